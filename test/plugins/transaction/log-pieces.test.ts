import assert from 'node:assert/strict';
import type { LogReader } from '../../../plugins/commitlog/contract.js';
import { LogPieces } from '../../../plugins/transaction/log-pieces.js';
import { SeededRandom } from '../../support/seeded-random.js';

const PIECE = 64 * 1024;
const LOG_BYTES = 40 * PIECE;

/** A log of bytes that tell their place, of which `maxOffset` are there. */
class GrowingLog {
  readonly #bytes = Buffer.alloc(LOG_BYTES);
  minOffset = 0;
  maxOffset = 0;
  bytesRead = 0;
  reads = 0;

  constructor() {
    for (let at = 0; at < LOG_BYTES; at += 4) this.#bytes.writeInt32BE(at, at);
  }

  readInto(target: Buffer, targetOffset: number, length: number, physicalOffset: number): void {
    assert.ok(physicalOffset >= this.minOffset && physicalOffset + length <= this.maxOffset);
    this.#bytes.copy(target, targetOffset, physicalOffset, physicalOffset + length);
    this.bytesRead += length;
    this.reads++;
  }

  slice(offset: number, length: number): Buffer {
    return this.#bytes.subarray(offset, offset + length);
  }
}

function pieces(): { log: GrowingLog; found: (offset: number, length: number) => Buffer | undefined } {
  const log = new GrowingLog();
  const all = new LogPieces(log as unknown as LogReader);
  return {
    log,
    found: (offset, length) => all.find(offset, length)?.bytes.subarray(all.at, all.at + length),
  };
}

describe('pieces of the log', () => {
  it('bring each byte once while the log grows, and few reads for many records', () => {
    const { log, found } = pieces();
    for (let end = 1000; end <= 3 * PIECE; end += 1000) {
      log.maxOffset = end;
      for (let at = end - 1000; at < end; at += 100) {
        const bytes = found(at, 100);
        if (bytes !== undefined) assert.ok(bytes.equals(log.slice(at, 100)), `at ${at}`);
        else assert.ok((at % PIECE) + 100 > PIECE, `${at} is in one piece`);
      }
    }
    assert.ok(log.bytesRead <= log.maxOffset);
    assert.ok(log.reads <= log.maxOffset / 1000 + 3);
  });

  it('are never taken for others, whatever is asked for in which order', () => {
    const random = new SeededRandom(7);
    const { log, found } = pieces();
    for (let i = 0; i < 3000; i++) {
      log.maxOffset = Math.min(LOG_BYTES, log.maxOffset + random.below(3000));
      const length = 1 + random.below(500);
      const offset = random.below(Math.max(1, log.maxOffset - length));
      if (offset + length > log.maxOffset) continue;
      const bytes = found(offset, length);
      if (bytes === undefined) assert.ok((offset % PIECE) + length > PIECE);
      else assert.ok(bytes.equals(log.slice(offset, length)), `at ${offset}`);
    }
  });

  it('do not ask for what was deleted', () => {
    const { log, found } = pieces();
    log.maxOffset = PIECE;
    log.minOffset = 5000;
    assert.ok(found(6000, 50)?.equals(log.slice(6000, 50)));
    assert.equal(log.bytesRead, PIECE - 5000);
  });
});
