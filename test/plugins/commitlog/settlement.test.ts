import assert from 'node:assert/strict';
import { Fault, Watermark, Watermarks } from '../../../kernel/ring/watermarks.js';
import type { AppendStatus, PendingAppend } from '../../../plugins/commitlog/contract.js';
import { Settlement } from '../../../plugins/commitlog/settlement.js';
import { FakeClock } from '../../support/fake-clock.js';

class Pending implements PendingAppend {
  status: AppendStatus | undefined;

  constructor(readonly waitStore = true) {}

  appended(): void {
    return;
  }

  settle(status: AppendStatus): void {
    assert.equal(this.status, undefined, 'settled twice');
    this.status = status;
  }
}

function bench(untilFlushed = true) {
  const marks = new Watermarks(Watermarks.allocate());
  const clock = new FakeClock();
  const settlement = new Settlement({ untilFlushed, flushTimeoutMs: 5000 }, marks, clock);
  const add = (end: number, waitStore = true): Pending => {
    const pending = new Pending(waitStore);
    settlement.appended(pending, end);
    return pending;
  };
  return { marks, clock, settlement, add };
}

describe('settlement', () => {
  it('is at once under ASYNC_FLUSH', () => {
    const { add, settlement } = bench(false);
    assert.equal(add(100).status, 'stored');
    assert.equal(settlement.waiting, 0);
  });

  it('waits for the sync under SYNC_FLUSH, in order of the log', () => {
    const { marks, add, settlement } = bench();
    const units = [add(100), add(200), add(300)];
    settlement.walk();
    assert.equal(settlement.ready(), false);
    assert.equal(settlement.waiting, 3);
    marks.advance(Watermark.flushed, 250);
    assert.equal(settlement.ready(), true);
    settlement.walk();
    assert.deepEqual(
      units.map(({ status }) => status),
      ['stored', 'stored', undefined],
    );
    marks.advance(Watermark.flushed, 300);
    settlement.walk();
    assert.equal(units[2].status, 'stored');
    assert.equal(settlement.waiting, 0);
  });

  it('does not make WAIT=false wait, nor lets it pass before its record is appended', () => {
    const { add } = bench();
    const waits = add(100);
    assert.equal(add(200, false).status, 'stored');
    assert.equal(waits.status, undefined);
  });

  it('does not wait for what is flushed already', () => {
    const { marks, add } = bench();
    marks.advance(Watermark.flushed, 500);
    assert.equal(add(500).status, 'stored');
    assert.equal(add(501).status, undefined);
  });

  it('answers what waited for syncFlushTimeout', () => {
    const { marks, clock, add, settlement } = bench();
    const first = add(100);
    clock.advance(3000);
    const second = add(200);
    clock.advance(1999);
    settlement.walk();
    assert.equal(first.status, undefined);
    clock.advance(1);
    settlement.walk();
    assert.deepEqual([first.status, second.status], ['flushTimeout', undefined]);
    marks.advance(Watermark.flushed, 200);
    settlement.walk();
    assert.equal(second.status, 'stored');
  });

  it('keeps apart what was synced before a failure and what was not (B01)', () => {
    const { marks, add, settlement } = bench();
    const units = [add(100), add(200)];
    marks.advance(Watermark.flushed, 100);
    marks.raise(Fault.flush);
    assert.equal(settlement.ready(), true);
    settlement.walk();
    assert.deepEqual(
      units.map(({ status }) => status),
      ['stored', 'flushFailed'],
    );
  });
});
