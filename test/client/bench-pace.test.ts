import assert from 'node:assert/strict';
import { Finish, LoadCounters } from '../../cli/bench/load.js';
import { Naps, Pace } from '../../cli/bench/pace.js';
import { PacedSender } from '../../cli/bench/paced-sender.js';
import { Histogram } from '../../cli/bench/histogram.js';
import { RequestCode } from '../../protocol/codes.js';
import { FakeClock } from '../support/fake-clock.js';
import { until } from '../support/until.js';
import { FakeBroker } from './support/fake-broker.js';

describe('bench pace', () => {
  it('makes messages due at equal distances, the first at once', () => {
    const clock = new FakeClock();
    const pace = new Pace(1000, clock);
    const startMs = clock.monoMs();
    assert.equal(pace.due(), 1);
    assert.equal(pace.take(), startMs);
    assert.equal(pace.due(), 0);
    assert.equal(pace.nextMs, startMs + 1);
    clock.advance(0.9);
    assert.equal(pace.due(), 0);
    clock.advance(2.2);
    assert.equal(pace.due(), 3);
  });

  it('leaves nothing out after a stall: what is late keeps its own time', () => {
    const clock = new FakeClock();
    const pace = new Pace(100, clock);
    const startMs = clock.monoMs();
    clock.advance(50);
    assert.equal(pace.due(), 6);
    assert.deepEqual(
      Array.from({ length: 6 }, () => pace.take() - startMs),
      [0, 10, 20, 30, 40, 50],
    );
    assert.equal(pace.due(), 0);
  });

  it('calls until it is stopped, with turns of the event loop in between', async () => {
    const clock = new FakeClock();
    let calls = 0;
    const naps = new Naps(() => ++calls > 0, clock.monoMs.bind(clock), clock);
    naps.start();
    await until(() => calls > 3, 'calls');
    naps.stop();
    const before = calls;
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    assert.equal(calls, before);
  });
});

describe('bench sends at a fixed rate', () => {
  it('count from the intended time, and tell when the generator was late', async () => {
    const broker = await FakeBroker.start();
    const clock = new FakeClock();
    const counts = { latency: new Histogram(), messages: 0, bytes: 0 };
    const shape = {
      form: 'binary',
      bodyBytes: 20,
      perRequest: 1,
      keys: false,
      tags: [],
      properties: 0,
      oneWay: false,
    } as const;
    const queues = [{ topic: 'T', queueId: 0 }];
    const targets = [{ host: '127.0.0.1', port: broker.server.port, queues }];
    const context = { shape, clock, counters: new LoadCounters(), finish: new Finish() };
    const sender = await PacedSender.open({ targets, shape, connections: 2, window: 1 }, context, counts, 1000);
    sender.start();
    await until(() => counts.messages === 1, 'the first message is due at once');
    assert.equal(sender.lateShare, 0);
    clock.advance(99);
    await until(() => counts.messages === 100, 'all that came due meanwhile');
    assert.equal(counts.latency.max, 98_000, 'the oldest waited for 98 ms');
    assert.ok(Math.abs(counts.latency.percentile(50) - 48_000) < 50, 'half of them for 48 ms or less');
    // Those that were meant to leave in the last millisecond, and the first of all, are in time.
    assert.equal(sender.lateShare, 0.97);
    assert.equal(broker.asked(RequestCode.SEND_MESSAGE_V2).length, 100);
    sender.begin();
    assert.equal(sender.lateShare, 0);
    await sender.end();
    assert.equal(sender.unanswered, 0);
    sender.stop();
    await broker.close();
  });

  it('counts sends that are never answered with the time that they waited', async () => {
    const broker = await FakeBroker.start();
    broker.on(RequestCode.SEND_MESSAGE_V2, 'reset');
    const clock = new FakeClock();
    const counts = { latency: new Histogram(), messages: 0, bytes: 0 };
    const shape = {
      form: 'binary',
      bodyBytes: 20,
      perRequest: 1,
      keys: false,
      tags: [],
      properties: 0,
      oneWay: false,
    } as const;
    const targets = [{ host: '127.0.0.1', port: broker.server.port, queues: [{ topic: 'T', queueId: 0 }] }];
    const finish = new Finish();
    const context = { shape, clock, counters: new LoadCounters(), finish };
    const sender = await PacedSender.open({ targets, shape, connections: 1, window: 1 }, context, counts, 1000);
    sender.start();
    await assert.rejects(finish.promise, /closed the connection|ECONNRESET/);
    clock.advance(20);
    await sender.end();
    assert.equal(sender.unanswered >= 1, true);
    assert.equal(counts.latency.max, 20_000);
    sender.stop();
    await broker.close();
  });
});
