import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allOnMain } from '../../../config/topology.js';
import { StoreStatus } from '../../../plugins/commitlog/contract.js';
import { ResponseCode } from '../../../protocol/codes.js';
import type { StoredMessage } from '../../../protocol/message/record.js';
import { parseProperties } from '../../../protocol/message/properties.js';
import { decodeTimerProgress } from '../../../store/schedule/timer-progress.js';
import { FakeClock } from '../../support/fake-clock.js';
import type { RawClient } from '../../support/raw-client.js';
import { propertyText, pull, pullAll, send, type SendWish } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker, type TestBrokerOptions } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const TIMER = 'rmq_sys_wheel_timer';
const timed = (name: string, value: number | string, more: Record<string, string> = {}): SendWish => ({
  properties: propertyText({ ...more, [`TIMER_${name}`]: String(value) }),
  body: Buffer.from(`${name} ${value}`),
});
const bodies = (messages: readonly StoredMessage[]): string[] =>
  messages.map(({ body }) => Buffer.from(body).toString());
const files = (dir: string) => ({
  progress: join(dir, 'config', 'timerProgress.json'),
  queues: join(dir, 'consumequeue'),
});

async function sent(client: RawClient, ...wishes: SendWish[]): Promise<void> {
  for (const wish of wishes) assert.equal((await send(client, wish)).code, ResponseCode.SUCCESS);
}

describe('messages with a delivery time of their own', () => {
  describe('while a clock stands', () => {
    const clock = new FakeClock();
    let broker: TestBroker;
    let client: RawClient;
    before(async () => {
      broker = await testBroker({ clock, options: { timerMaxDelaySec: 100, timerPendingMax: 6 } });
      client = await broker.connect();
    });
    after(async () => {
      client[Symbol.dispose]();
      await broker.stop();
    });

    it('lie in their topic until they are due, and come in order of their times, none early', async () => {
      const start = clock.wallMs();
      await sent(
        client,
        timed('DELAY_SEC', 3),
        timed('DELAY_MS', 1500, { KEYS: 'k' }),
        timed('DELIVER_MS', start + 2001),
        timed('DELAY_MS', 1500),
      );
      const waiting = await pullAll(client, 4, { topic: TIMER });
      const { REAL_TOPIC, REAL_QID, TIMER_OUT_MS, TIMER_DELAY_MS } = Object.fromEntries(
        parseProperties(waiting[1].properties),
      );
      assert.deepEqual([REAL_TOPIC, REAL_QID, TIMER_OUT_MS, TIMER_DELAY_MS], ['T', '0', String(start + 1500), '1500']);
      const seen: StoredMessage[] = [];
      for (const [ms, count] of [
        [1499, 0],
        [1, 2],
        [500, 2],
        [1, 3],
        [998, 3],
        [1, 4],
      ]) {
        clock.advance(ms);
        seen.splice(0, 9, ...(await pullAll(client, count)));
      }
      assert.deepEqual(bodies(seen), ['DELAY_MS 1500', 'DELAY_MS 1500', `DELIVER_MS ${start + 2001}`, 'DELAY_SEC 3']);
      assert.equal(seen[0].properties, waiting[1].properties, 'its properties stay as they are');
    });

    it('are plain ones when they are due already, and beside a delay level', async () => {
      const before = (await pull(client, { topic: TIMER })).header.maxOffset;
      await sent(
        client,
        timed('DELIVER_MS', clock.wallMs(), {}),
        timed('DELAY_MS', -5),
        timed('DELAY_SEC', 9, { TIMER_OUT_MS: '1' }),
        timed('DELAY_SEC', 9, { DELAY: '1' }),
      );
      assert.equal((await pullAll(client, 3, { queueOffset: 4 })).length, 3);
      assert.equal((await pullAll(client, 1, { topic: 'SCHEDULE_TOPIC_XXXX' })).length, 1);
      assert.equal((await pull(client, { topic: TIMER })).header.maxOffset, before);
    });

    for (const [name, wish, remark] of [
      ['beyond the horizon', timed('DELAY_SEC', 101), /bigger than the max delay 100000ms; .*timerMaxDelaySec/],
      ['no number', timed('DELAY_MS', '1s'), /TIMER_DELAY_MS .*is no number/],
      ['too many digits', timed('DELIVER_MS', '9'.repeat(19)), /is no number/],
      [
        'a cancellation',
        timed('DEL_UNIQKEY', 'x', { TIMER_DELAY_SEC: '1' }),
        /cancelling .*TIMER_DEL_UNIQKEY.* not supported/,
      ],
    ] as const)
      it(`are refused with 13: ${name}`, async () => {
        const { code, remark: said } = await send(client, wish);
        assert.equal(code, ResponseCode.MESSAGE_ILLEGAL);
        assert.match(said ?? '', remark);
      });

    it('are refused with 2 beyond timerPendingMax, and taken again when some are delivered', async () => {
      for (let i = 0; i < 6; i++) await sent(client, timed('DELAY_SEC', 50));
      const { code, remark } = await send(client, timed('DELAY_SEC', 50));
      assert.equal(code, ResponseCode.SYSTEM_BUSY);
      assert.match(remark ?? '', /6 messages wait .*timerPendingMax/);
      clock.advance(50_000);
      await until(async () => (await send(client, timed('DELAY_SEC', 50))).code === 0, 'there is room again');
    });
  });

  describe('over restarts', () => {
    const start = (path: string, clock: FakeClock, more: TestBrokerOptions['options'] = {}): Promise<TestBroker> =>
      testBroker({
        clock,
        topology: allOnMain,
        options: { storePathRootDir: path, mappedFileSizeCommitLog: 65_536, ...more },
      });

    /** Three of six are delivered; `between` may do what it likes to the store before the next life. */
    async function lives(between: (dir: string) => void): Promise<{ seen: string[]; lines: string }> {
      using dir = tempDir();
      const clock = new FakeClock();
      {
        await using broker = await start(dir.path, clock);
        using client = await broker.connect();
        for (const ms of [30, 10, 60, 50, 20, 40]) await sent(client, timed('DELAY_MS', ms, { TAGS: 'tag' }));
        await pullAll(client, 6, { topic: TIMER });
        clock.advance(30);
        assert.deepEqual(bodies(await pullAll(client, 3)), ['DELAY_MS 10', 'DELAY_MS 20', 'DELAY_MS 30']);
      }
      between(dir.path);
      await using broker = await start(dir.path, clock);
      using client = await broker.connect();
      await until(async () => (await pull(client)).header.maxOffset >= 3, 'the queue is there');
      clock.advance(10);
      await until(async () => (await pull(client)).header.maxOffset >= 4, 'one more is delivered');
      clock.advance(20);
      const after = await pullAll(client, (await settled(client)) - 3, { queueOffset: 3 });
      return { seen: bodies(after), lines: JSON.stringify(broker.lines) };
    }

    /** The queue's end when what is due was delivered: the last one is the last due. */
    async function settled(client: RawClient): Promise<number> {
      let end = 0;
      await until(async () => {
        end = (await pull(client)).header.maxOffset;
        if (end < 6) return false;
        const [last] = (await pull(client, { queueOffset: end - 1 })).messages;
        return bodies([last])[0] === 'DELAY_MS 60';
      }, 'the last one is delivered');
      return end;
    }

    const rest = ['DELAY_MS 40', 'DELAY_MS 50', 'DELAY_MS 60'];

    it('each is delivered once', async () => {
      const { seen } = await lives((dir) => {
        const { end, pending } = decodeTimerProgress(readFileSync(files(dir).progress));
        assert.deepEqual([end, pending.count], [6, 3]);
      });
      assert.deepEqual(seen, rest);
    });

    it('and when the queues are built again from the log', async () => {
      assert.deepEqual((await lives((dir) => rmSync(files(dir).queues, { recursive: true }))).seen, rest);
    });

    it('and when another broker built them, with hashes of tags instead of times', async () => {
      const hash = (dir: string): void => {
        const path = join(files(dir).queues, TIMER, '0', '00000000000000000000');
        const units = readFileSync(path);
        for (let at = 0; at < 6; at++) units.writeBigInt64BE(114586n, at * 20 + 12);
        writeFileSync(path, units);
      };
      assert.deepEqual((await lives(hash)).seen, rest);
    });

    it('all come again, rather than none, when the file of their progress is lost or damaged, and the log says so', async () => {
      for (const harm of [(path: string) => rmSync(path), (path: string) => writeFileSync(path, '{"end":6}')]) {
        const { seen, lines } = await lives((dir) => {
          rmSync(`${files(dir).progress}.bak`, { force: true });
          harm(files(dir).progress);
        });
        assert.deepEqual(seen.sort(), ['DELAY_MS 10', 'DELAY_MS 20', 'DELAY_MS 30', ...rest]);
        assert.match(lines, /timerProgress\.json.*some of them again/);
      }
    });

    it('progress is not written before what it counts is synced', async () => {
      using dir = tempDir();
      const options = {
        storePathRootDir: dir.path,
        flushDelayOffsetInterval: 10,
        flushIntervalCommitLog: 1000,
        flushCommitLogLeastPages: 0,
      };
      await using broker = await testBroker({ options });
      using client = await broker.connect();
      await sent(client, timed('DELAY_MS', 5));
      const [{ physicalOffset, totalBytes }] = await pullAll(client, 1);
      const { progress } = files(dir.path);
      const isDone = (): boolean =>
        existsSync(progress) && decodeTimerProgress(readFileSync(progress)).pending.count === 0;
      await until(() => isDone() && decodeTimerProgress(readFileSync(progress)).end === 1, 'progress is written');
      const { flushed } = broker.get(StoreStatus);
      assert.ok(flushed >= physicalOffset + totalBytes, 'the file counts a delivery that is not synced');
    });
  });
});
