import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TimerHeap, type Timer } from '../../../workers/schedule/timer-heap.js';

const blank = (): Timer => ({ due: 0, queueOffset: 0, physicalOffset: 0, size: 0 });
const timer = (due: number, queueOffset: number): Timer => ({
  due,
  queueOffset,
  physicalOffset: queueOffset * 1000,
  size: 100 + (queueOffset % 7),
});
const inOrder = (a: Timer, b: Timer): number => a.due - b.due || a.queueOffset - b.queueOffset;

function drain(heap: TimerHeap): Timer[] {
  const all: Timer[] = [];
  while (heap.count > 0) {
    const one = blank();
    assert.equal(heap.firstDue, (heap.pop(one), one.due));
    all.push(one);
  }
  return all;
}

describe('timer heap', () => {
  const dues = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 200 });

  it('gives them back by due time, and those of one moment as they came', () => {
    fc.assert(
      fc.property(dues, (times) => {
        const heap = new TimerHeap();
        const timers = times.map((due, index) => timer(due, index));
        timers.forEach((one) => heap.push(one));
        assert.deepEqual(drain(heap), timers.sort(inOrder));
      }),
    );
  });

  it('keeps the order while some come and some go', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 9 })), { maxLength: 300 }), (steps) => {
        const heap = new TimerHeap();
        const model: Timer[] = [];
        steps.forEach((due, index) => {
          if (due !== null) {
            heap.push(timer(due, index));
            model.push(timer(due, index));
          } else if (model.length > 0) {
            const first = blank();
            heap.pop(first);
            assert.deepEqual(first, model.sort(inOrder).shift());
          }
        });
        assert.deepEqual(drain(heap), model.sort(inOrder));
      }),
    );
  });

  it('drops those that are not to be kept', () => {
    fc.assert(
      fc.property(dues, fc.integer({ min: 1, max: 4 }), (times, divisor) => {
        const heap = new TimerHeap();
        const timers = times.map((due, index) => timer(due, index));
        timers.forEach((one) => heap.push(one));
        heap.retain((queueOffset) => queueOffset % divisor === 0);
        assert.deepEqual(drain(heap), timers.filter(({ queueOffset }) => queueOffset % divisor === 0).sort(inOrder));
      }),
    );
  });

  it('grows and shrinks, and forgets none', () => {
    const heap = new TimerHeap();
    const count = 10_000;
    const timers = Array.from({ length: count }, (_, index) => timer((index * 7919) % 3001, index));
    timers.forEach((one) => heap.push(one));
    const seen = new Set<number>();
    heap.forEach(({ queueOffset }) => seen.add(queueOffset));
    assert.equal(seen.size, count);
    assert.deepEqual(drain(heap), timers.sort(inOrder));
    assert.equal(heap.firstDue, Number.POSITIVE_INFINITY);
  });
});
