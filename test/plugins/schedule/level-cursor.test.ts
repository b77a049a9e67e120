import assert from 'node:assert/strict';
import type { AppendResult, LogReader, MessageWriter, NewMessage } from '../../../plugins/commitlog/contract.js';
import type { Queues } from '../../../plugins/reput/contract.js';
import { DelayLevels } from '../../../plugins/schedule/delays.js';
import { LevelCursor } from '../../../plugins/schedule/level-cursor.js';
import { defaultOptions } from '../../support/default-options.js';
import { FakeClock } from '../../support/fake-clock.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { testRecord } from '../../support/records.js';
import { until } from '../../support/until.js';

const LEVEL = 1;
const DELAY_MS = 1000;

/** One level whose queue is a list of due times and records. */
class Bench {
  readonly clock = new FakeClock();
  readonly logger = recordingLogger();
  readonly delays = new DelayLevels(defaultOptions({ messageDelayLevel: '1s 2s' }));
  readonly stored: NewMessage[] = [];
  readonly #units: { readonly due: number | undefined; readonly record: Buffer | undefined }[] = [];
  /** What the next appends end with; stored when there is none. */
  readonly outcomes: AppendResult['status'][] = [];
  looks = 0;
  storedMs = 0;
  minOffset = 0;
  /** Runs once, in the moment in which the queue was found empty. */
  onEmpty: (() => void) | undefined;
  readonly cursor: LevelCursor;

  constructor() {
    const queues = {
      minOffset: () => this.minOffset,
      entry: (_topic: string, _queueId: number, offset: number) => this.#entry(offset),
    } as Partial<Queues> as Queues;
    const log = {
      record: (offset: number) => Promise.resolve(this.#units[offset]?.record),
      storeTimestamp: () => Promise.resolve(this.storedMs),
    } as Partial<LogReader> as LogReader;
    const writer: MessageWriter = { append: (message) => this.#append(message) };
    const { delays, clock, logger } = this;
    this.cursor = new LevelCursor(LEVEL, { delays, queues, log, writer, clock, logger });
  }

  add(body: string, dueInMs = 0, properties = 'REAL_TOPIC\u0001T\u0002REAL_QID\u00010'): void {
    const record = testRecord({ physicalOffset: 0, body: Buffer.from(body), properties });
    this.#units.push({ due: this.clock.wallMs() + dueInMs, record });
  }

  /** A message whose due time stood in an ext unit that is gone. */
  addWithoutDue(body: string): void {
    this.add(body);
    const { record } = this.#units.pop() ?? {};
    this.#units.push({ due: undefined, record });
  }

  addLost(): void {
    this.#units.push({ due: 0, record: undefined });
  }

  get bodies(): string[] {
    return this.stored.map(({ body }) => Buffer.from(body).toString());
  }

  get progress(): number | undefined {
    return this.delays.progress.get(LEVEL);
  }

  #entry(offset: number) {
    this.looks++;
    const unit = this.#units[offset];
    const tagsCode = unit?.due === undefined ? undefined : BigInt(unit.due);
    if (unit !== undefined) return { physicalOffset: offset, size: 100, tagsCode };
    this.onEmpty?.();
    this.onEmpty = undefined;
    return undefined;
  }

  #append(message: NewMessage): Promise<AppendResult> {
    const status = this.outcomes.shift() ?? 'stored';
    if (status === 'stored') this.stored.push(message);
    return Promise.resolve({ status, reason: status, queueOffset: 0, physicalOffset: 0, storeTimestamp: 0 });
  }
}

describe('level cursor', () => {
  it('delivers what is due, in order, and nothing before its time', async () => {
    const bench = new Bench();
    for (const body of ['a', 'b']) bench.add(body);
    bench.add('late', 500);
    bench.cursor.wake();
    await until(() => bench.progress === 2, 'two are delivered');
    bench.clock.advance(499);
    bench.cursor.wake();
    await until(() => bench.looks >= 5, 'it looked again');
    assert.deepEqual(bench.bodies, ['a', 'b']);
    bench.clock.advance(1);
    bench.cursor.wake();
    await until(() => bench.progress === 3, 'the third is delivered');
    assert.deepEqual(bench.bodies, ['a', 'b', 'late']);
    await bench.cursor.stop();
  });

  it('comes back by itself when the next one is due', async () => {
    const bench = new Bench();
    bench.add('soon', 20);
    bench.cursor.wake();
    await until(() => bench.looks === 1, 'it looked');
    bench.clock.advance(20);
    await until(() => bench.bodies.length === 1, 'delivered without another wake');
    await bench.cursor.stop();
  });

  it('delivers at once what a clock that was set back put further away than the delay (4.9: correctDeliverTimestamp)', async () => {
    const bench = new Bench();
    bench.add('far', DELAY_MS + 1);
    bench.add('in time', DELAY_MS);
    bench.cursor.wake();
    await until(() => bench.progress === 1, 'the first is delivered');
    assert.deepEqual(bench.bodies, ['far']);
    await bench.cursor.stop();
  });

  it('works out the due time from the store time when the ext unit that held it is missing', async () => {
    const bench = new Bench();
    bench.addWithoutDue('kept');
    bench.storedMs = bench.clock.wallMs() - DELAY_MS + 20;
    bench.cursor.wake();
    await until(() => bench.looks === 1, 'it looked');
    await new Promise(setImmediate);
    assert.deepEqual(bench.bodies, []);
    bench.clock.advance(20);
    await until(() => bench.progress === 1, 'it is delivered');
    await bench.cursor.stop();
  });

  it('tries again what was refused, and keeps the order', async () => {
    const bench = new Bench();
    bench.outcomes.push('noSpace', 'writeFailed');
    for (const body of ['a', 'b']) bench.add(body);
    bench.cursor.wake();
    await until(() => bench.progress === 2, 'both are delivered', 3000);
    assert.deepEqual(bench.bodies, ['a', 'b']);
    await bench.cursor.stop();
  });

  it('passes over what can never be delivered, with a line each', async () => {
    const bench = new Bench();
    bench.add('no topic', 0, '');
    bench.add('bad topic', 0, 'REAL_TOPIC\u0001../x\u0002REAL_QID\u00010');
    bench.add('no queue', 0, 'REAL_TOPIC\u0001T');
    bench.add('bad queue', 0, 'REAL_TOPIC\u0001T\u0002REAL_QID\u0001-1');
    bench.add('itself', 0, 'REAL_TOPIC\u0001SCHEDULE_TOPIC_XXXX\u0002REAL_QID\u00010');
    bench.add('half', 0, 'REAL_TOPIC\u0001RMQ_SYS_TRANS_HALF_TOPIC\u0002REAL_QID\u00010');
    bench.addLost();
    bench.add('too large');
    bench.outcomes.push('tooLarge');
    bench.add('good');
    bench.cursor.wake();
    await until(() => bench.progress === 9, 'all were looked at');
    assert.deepEqual(bench.bodies, ['good']);
    assert.equal(bench.logger.lines.length, 8);
    await bench.cursor.stop();
  });

  it('hears of an arrival in the very moment in which it found nothing', async () => {
    const bench = new Bench();
    bench.onEmpty = () => {
      bench.add('just came');
      // Before the look is over: the cursor still runs.
      queueMicrotask(() => bench.cursor.wake());
    };
    bench.cursor.wake();
    await until(() => bench.bodies.length === 1, 'it is delivered');
    await bench.cursor.stop();
  });

  it("goes on at the queue's beginning when retention took what lay before", async () => {
    const bench = new Bench();
    for (const body of ['gone', 'gone too', 'there']) bench.add(body);
    bench.minOffset = 2;
    bench.cursor.wake();
    await until(() => bench.progress === 3, 'it went on');
    assert.deepEqual(bench.bodies, ['there']);
    assert.deepEqual(
      bench.logger.lines.map(({ level, fields }) => [level, fields['from'], fields['to']]),
      [['warn', 0, 2]],
      'what was not delivered is told',
    );
    await bench.cursor.stop();
  });

  it('does nothing after its stop', async () => {
    const bench = new Bench();
    bench.add('soon', 5);
    bench.cursor.wake();
    await bench.cursor.stop();
    bench.clock.advance(100);
    const { looks } = bench;
    bench.cursor.wake();
    await new Promise<void>((resolve) => setImmediate(resolve));
    assert.equal(bench.looks, looks);
    assert.deepEqual(bench.bodies, []);
  });
});
