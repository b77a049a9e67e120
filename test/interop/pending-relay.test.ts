import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { until } from '../support/until.js';
import { COMMIT, keyOf, PendingClient, ROLLBACK, type Half } from './support/pending.js';
import { patienceMs } from './support/suite.js';
import { defaultKind, startTarget, type Target, type TargetKind } from './support/target.js';

const TOPIC = 'Pending';
const EXPIRED = 'TRANS_CHECK_MAX_TIME_TOPIC';
const TIMERS = 'rmq_sys_wheel_timer';
const checksMax = 12;
/** Some are over when the first broker stops, some pass while nobody serves, some the other one waits for. */
const levels = ['3s', '5s', '7s'];
const timerMs = 3000;
const options = {
  messageDelayLevel: levels.join(' '),
  transactionTimeOut: 400,
  transactionCheckInterval: 400,
  transactionCheckMax: checksMax,
};
const delayed = Array.from({ length: 60 }, (_, i) => `delayed${i}`);
const [committed, rolledBack, asked] = ['committed', 'rolledBack', 'asked'].map((name) =>
  Array.from({ length: 15 }, (_, i) => `${name}${i}`),
);
assert.ok(committed && rolledBack && asked);
/** Of a half that the first broker was told to ask about. */
const counted = 'counted';

describe('what is pending when a store goes over to the other broker', function () {
  this.timeout(120_000);
  let folder: string;
  let served: Target | undefined;

  before(function () {
    if (defaultKind === 'jvm') this.skip();
    folder = mkdtempSync(join(tmpdir(), 'mqkernel-pending-'));
  });
  after(async () => {
    await served?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true });
  });

  it('ours, continued by Java; messages with a time of their own wait for ours to come back', async () => {
    const halves = await leave('kernel', async (producer) => {
      for (const key of ['timer0', 'timer1']) await producer.send(key, { TIMER_DELAY_MS: String(timerMs) });
      await producer.send('never', { TIMER_DELAY_SEC: '3600' });
    });
    await goOn('jvm', halves, async (producer) => {
      await producer.send('of Java');
      assert.equal((await producer.arrived(everything().length + 1)).map(keyOf).at(-1), 'of Java');
      assert.equal(await producer.maxOffset(TIMERS), 3, 'a broker that does not know them leaves them alone');
    });
    await serving('kernel', async (producer) => {
      const all = await producer.arrived(everything().length + 3);
      assert.deepEqual(all.map(keyOf).sort(), [...everything(), 'of Java', 'timer0', 'timer1'].sort());
      for (const message of all.filter((one) => keyOf(one).startsWith('timer')))
        assert.ok(message.storeTimestamp - message.bornTimestamp >= timerMs, 'not early');
    });
  });

  it('that of Java, continued by ours', async () => {
    await goOn('kernel', await leave('jvm'));
  });

  /** Delayed messages, halves of each outcome, and one that was asked about twice. */
  async function leave(
    kind: TargetKind,
    more?: (producer: PendingClient) => Promise<void>,
  ): Promise<Map<string, Half>> {
    rmSync(join(folder, 'store'), { recursive: true, force: true });
    served = undefined;
    return serving(kind, async (producer) => {
      const halves = new Map<string, Half>();
      await producer.join();
      for (const [i, key] of delayed.entries()) await producer.send(key, { DELAY: String(1 + (i % levels.length)) });
      // 4.9.7 would go on asking about what is committed under the place that it had before a question (B22): nobody asks about these.
      const later = { CHECK_IMMUNITY_TIME_IN_SECONDS: '120' };
      for (const key of [...committed!, ...rolledBack!]) halves.set(key, await producer.half(key, later));
      for (const key of asked!) halves.set(key, await producer.half(key));
      await more?.(producer);
      await producer.half(counted);
      await until(() => timesOf(producer).length >= 2, 'two questions', patienceMs);
      assert.deepEqual(timesOf(producer).slice(0, 2), [1, 2]);
      // It takes seconds to stop, and goes on counting meanwhile.
      if (kind === 'jvm') await producer.configure('transactionTimeOut=3600000');
      return halves;
    });
  }

  /** Everything comes once; the question behind the last one is asked next, and the last one is no more than the limit. */
  async function goOn(
    kind: TargetKind,
    halves: ReadonlyMap<string, Half>,
    more?: (producer: PendingClient) => Promise<void>,
  ): Promise<void> {
    const answers = new Map(asked!.map((key) => [key, COMMIT]));
    await serving(
      kind,
      async (producer) => {
        for (const key of committed!) await producer.end(halves.get(key)!, COMMIT);
        for (const key of rolledBack!) await producer.end(halves.get(key)!, ROLLBACK);
        await producer.join();
        const expired = await producer.arrived(1, EXPIRED);
        assert.deepEqual(expired.map(keyOf), [counted]);
        const times = timesOf(producer);
        assert.ok(times.length > 0 && (times[0] ?? 0) > 2 && times.at(-1) === checksMax, `asked ${times.join()}`);
        assert.deepEqual(
          times,
          [...new Set(times)].sort((a, b) => a - b),
          'each question once',
        );
        const found = await producer.arrived(everything().length);
        assert.deepEqual(found.map(keyOf).sort(), everything());
        for (const message of found.filter((one) => keyOf(one).startsWith('delayed')))
          assert.ok(message.storeTimestamp - message.bornTimestamp >= 3000, 'not early');
        await more?.(producer);
      },
      answers,
    );
  }

  async function serving<T>(
    kind: TargetKind,
    work: (producer: PendingClient) => Promise<T>,
    answers?: ReadonlyMap<string, number>,
  ): Promise<T> {
    const target = await startTarget({
      kind,
      storeDir: join(folder, 'store'),
      options,
      ...(served === undefined ? {} : { sameAddressesAs: served }),
    });
    served = target;
    using producer = await PendingClient.connect(target.broker, TOPIC, answers);
    const result = await work(producer);
    await target.stop();
    return result;
  }
});

function timesOf({ questions }: PendingClient): number[] {
  return questions.filter(({ key }) => key === counted).map(({ times }) => times);
}

function everything(): string[] {
  return [...delayed, ...committed!, ...asked!].sort();
}
