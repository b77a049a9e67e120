import assert from 'node:assert/strict';
import { Ledger } from '../../../kernel/ring/ledger.js';
import { RingReader } from '../../../kernel/ring/reader.js';
import { allocateRing, Cursor, SlotStatus } from '../../../kernel/ring/slots.js';
import { RingWriter } from '../../../kernel/ring/writer.js';

const SLOTS = 8;

/** A ring whose sequence numbers begin at `first`, and a service's lives on it. */
class Lives {
  readonly ring = allocateRing(1024, SLOTS);
  readonly memory = Ledger.allocate(this.ring);
  readonly consumer: RingReader;
  writer: RingWriter;
  ledger: Ledger;

  constructor(first = 0) {
    new Int32Array(this.ring.cursors).fill(first);
    new Int32Array(this.memory.settled)[0] = first;
    this.consumer = new RingReader(this.ring);
    this.writer = new RingWriter(this.ring);
    this.ledger = new Ledger(this.memory, this.ring);
  }

  hand(...tokens: number[]): void {
    for (const token of tokens) {
      this.writer.reserve(8);
      this.ledger.note(token % 3, token);
      this.writer.commit(8, 0, 1);
    }
    this.writer.publish();
  }

  complete(...statuses: SlotStatus[]): void {
    for (const status of statuses) {
      this.consumer.setStatus(0, status);
      this.consumer.complete(1);
    }
  }

  /** The next life; what it inherits. */
  die(): [number, number, SlotStatus][] {
    this.writer = new RingWriter(this.ring);
    this.ledger = new Ledger(this.memory, this.ring);
    const inherited: [number, number, SlotStatus][] = [];
    this.ledger.inherit((owner, token, status) => inherited.push([owner, token, status]));
    return inherited;
  }
}

const { stored, noSpace } = SlotStatus;

describe('ledger of a service that stores', () => {
  it('tells the next life what became of units that this one handed over and did not settle', () => {
    const lives = new Lives();
    lives.hand(10, 11, 12, 13);
    lives.complete(stored, stored, noSpace, stored);
    assert.equal(lives.ledger.tokenOf(0), 10);
    lives.ledger.settle(0);
    assert.deepEqual(lives.die(), [
      [2, 11, stored],
      [0, 12, noSpace],
      [1, 13, stored],
    ]);
    assert.deepEqual(lives.die(), [], 'once');
  });

  it('does not count what was not published', () => {
    const lives = new Lives();
    lives.hand(1);
    lives.ledger.note(0, 99);
    lives.complete(stored);
    assert.deepEqual(lives.die(), [[1, 1, stored]]);
  });

  it('goes round the ring, and where sequence numbers wrap', () => {
    const lives = new Lives(0x7fffffff - 2);
    for (let round = 0; round < 5; round++) {
      lives.hand(...Array.from({ length: 5 }, (_, i) => round * 5 + i));
      lives.complete(...Array.from({ length: 5 }, () => stored));
      const tokens = lives.die().map(([, token]) => token);
      assert.deepEqual(
        tokens,
        Array.from({ length: 5 }, (_, i) => round * 5 + i),
      );
    }
    assert.ok(new Int32Array(lives.ring.cursors)[Cursor.published] < 0, 'they wrapped');
  });
});
