import assert from 'node:assert/strict';
import { ProcessQueue, type Held } from '../../client/consumer/process-queue.js';
import type { ReceivedMessage } from '../../client/message.js';
import type { Received } from '../../client/received.js';

const queue = { topic: 'T', brokerName: 'b', queueId: 0 };

function messages(from: number, to: number, bytes = 1): Received[] {
  return Array.from({ length: to - from }, (_, index) => ({
    message: { queueOffset: from + index, body: Buffer.alloc(bytes), reconsumeTimes: 0 } as unknown as ReceivedMessage,
    bodyProblem: undefined,
  }));
}

describe('ProcessQueue', () => {
  it('never lets the offset pass a message that is not done', () => {
    const process = new ProcessQueue(queue, 0, 0);
    const held = process.put(messages(0, 10));
    assert.equal(process.done([held[7]!, held[8]!, held[9]!]), 0);
    assert.equal(process.done([held[0]!, held[1]!]), 2);
    assert.equal(process.done(held.filter((_, index) => index !== 5)), 5);
    assert.deepEqual([process.count, process.minOffset, process.maxOffset, process.span], [1, 5, 9, 4]);
    assert.equal(process.done([held[5]!]), 10);
    assert.deepEqual([process.count, process.bytes, process.minOffset, process.span], [0, 0, -1, 0]);
  });

  it('gives no offset when nothing is held', () => {
    const process = new ProcessQueue(queue, 0, 0);
    assert.equal(process.done([]), -1);
    const held = process.put(messages(3, 4));
    assert.equal(process.done(held), 4);
    assert.equal(process.done(held), -1);
  });

  it('takes a message once', () => {
    const process = new ProcessQueue(queue, 0, 0);
    process.put(messages(0, 5));
    assert.deepEqual(
      process.put(messages(3, 7)).map(({ message }) => message.queueOffset),
      [5, 6],
    );
    assert.equal(process.count, 7);
  });

  it('counts what it holds', () => {
    const process = new ProcessQueue(queue, 0, 0);
    const held = process.put(messages(0, 3, 100));
    assert.equal(process.bytes, 300);
    process.done([held[1]!]);
    process.done([held[1]!]);
    assert.deepEqual([process.bytes, process.count], [200, 2]);
  });

  it('gives the right offset whatever the order, with gaps, over many messages', () => {
    const process = new ProcessQueue(queue, 0, 0);
    const open = new Map<number, Held>();
    let seed = 7;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (seed >> 8) % below;
    };
    let next = 0;
    let highest = -1;
    for (let step = 0; step < 6000; step++) {
      if (open.size < 200 && random(3) === 0) {
        const from = next + random(5);
        next = from + random(40);
        for (const held of process.put(messages(from, next))) {
          highest = held.message.queueOffset;
          open.set(highest, held);
        }
      } else if (open.size > 0) {
        const [offset, held] = [...open][random(Math.min(open.size, 50))]!;
        open.delete(offset);
        const expected = open.size === 0 ? highest + 1 : open.keys().next().value;
        assert.equal(process.done([held]), expected, `step ${step}`);
        assert.equal(process.count, open.size);
      }
    }
    assert.ok(next > 3000, `${next} messages`);
  });
});
