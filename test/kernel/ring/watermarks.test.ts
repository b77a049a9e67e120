import assert from 'node:assert/strict';
import { Fault, Watermark, Watermarks } from '../../../kernel/ring/watermarks.js';

describe('watermarks', () => {
  it('never go back', () => {
    const marks = new Watermarks(Watermarks.allocate());
    marks.advance(Watermark.appended, 100);
    marks.advance(Watermark.appended, 100);
    assert.throws(() => marks.advance(Watermark.appended, 99), /watermark 0 would go back to 99/);
    assert.equal(marks.get(Watermark.appended), 100);
  });

  it('hold offsets of any log, whole', () => {
    const marks = new Watermarks(Watermarks.allocate());
    const large = 2 ** 52 + 12_345;
    marks.advance(Watermark.flushed, large);
    assert.equal(marks.get(Watermark.flushed), large);
  });

  it('are seen by whoever has the memory, each slot by itself', () => {
    const writer = new Watermarks(Watermarks.allocate());
    const reader = new Watermarks(writer.memory);
    Object.values(Watermark).forEach((slot, i) => writer.advance(slot, i + 1));
    assert.deepEqual(
      Object.values(Watermark).map((slot) => reader.get(slot)),
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
    assert.equal(reader.raised(Fault.append), false);
    writer.raise(Fault.append);
    assert.equal(reader.raised(Fault.append), true);
    assert.equal(reader.raised(Fault.flush), false);
  });

  it('go back only before the threads start', () => {
    const marks = new Watermarks(Watermarks.allocate());
    marks.advance(Watermark.dispatched, 500);
    marks.reset(Watermark.dispatched, 20);
    assert.equal(marks.get(Watermark.dispatched), 20);
  });
});
