import assert from 'node:assert/strict';
import net from 'node:net';
import { LoadSocket } from '../../cli/bench/load-socket.js';
import { measure } from '../../cli/bench/measure.js';
import { TailLoad } from '../../cli/bench/tail-load.js';
import { processStats } from '../../cli/bench/process-stats.js';
import { OneWayLoad } from '../../cli/bench/oneway-load.js';
import { PullLoad } from '../../cli/bench/pull-load.js';
import type { BrokerTarget } from '../../cli/bench/load.js';
import type { MessageShape } from '../../cli/bench/send-frames.js';
import { SendLoad } from '../../cli/bench/send-load.js';
import { systemClock } from '../../kernel/base/clock.js';
import { decodeHeartbeat } from '../../protocol/bodies/heartbeat.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { decodePullMessage } from '../../protocol/headers/pull-message.js';
import { decodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { parseProperties } from '../../protocol/message/properties.js';
import { until } from '../support/until.js';
import { FakeBroker } from './support/fake-broker.js';

const quiet = (): void => undefined;
const plain: MessageShape = {
  form: 'binary',
  bodyBytes: 1,
  perRequest: 1,
  keys: false,
  tags: [],
  properties: 0,
  oneWay: false,
};
const pulls = {
  form: 'binary',
  group: 'g',
  perPull: 32,
  filter: { type: 'TAG', expression: '*' },
  suspendMs: 0,
} as const;
const once = { warmSeconds: 0, pid: undefined };

describe('bench loads', () => {
  let broker: FakeBroker;
  const target = (queues: number, port = broker.server.port): BrokerTarget => ({
    host: '127.0.0.1',
    port,
    queues: Array.from({ length: queues }, (_, queueId) => ({ topic: 'T', queueId })),
  });

  beforeEach(async () => {
    broker = await FakeBroker.start();
  });

  afterEach(() => broker.close());

  for (const form of ['binary', 'json'] as const)
    it(`sends with ${form} headers, no more in flight than asked for`, async () => {
      let inFlight = 0;
      let most = 0;
      const stored = broker.server.script(RequestCode.SEND_MESSAGE_V2)!;
      broker.on(RequestCode.SEND_MESSAGE_V2, async (request, connection) => {
        most = Math.max(most, ++inFlight);
        await until(() => most === 8, 'both windows are full');
        inFlight--;
        return stored(request, connection);
      });
      const settings = {
        targets: [target(3)],
        shape: { ...plain, form, bodyBytes: 50 },
        connections: 2,
        window: 4,
      };
      const load = await SendLoad.open(settings, systemClock);
      const result = await measure(load, { ...once, seconds: 0.3 }, quiet);
      const requests = broker.asked(RequestCode.SEND_MESSAGE_V2);
      assert.ok(result.messages > 50, `${result.messages} messages`);
      assert.ok(Math.abs(requests.length - result.messages) <= 8, 'every answer was counted once');
      assert.equal(most, 8);
      assert.deepEqual(result.errors, {});
      const headers = requests.map(({ ext }) => decodeSendMessageV2(ext));
      assert.deepEqual([...new Set(headers.map(({ queueId }) => queueId))].sort(), [0, 1, 2]);
      const keys = new Set(headers.map(({ properties }) => parseProperties(properties!).get('UNIQ_KEY')));
      assert.equal(keys.size, requests.length, 'a key was used twice');
      assert.ok(result.latencyMicros.p50 > 0 && result.latencyMicros.p50 <= result.latencyMicros.max);
    });

  it('counts answers of other codes as errors, not as messages', async () => {
    let asked = 0;
    broker.on(RequestCode.SEND_MESSAGE_V2, () => ({ code: ++asked % 2 === 0 ? ResponseCode.SYSTEM_BUSY : 10 }));
    const settings = {
      targets: [target(1)],
      shape: plain,
      connections: 1,
      window: 2,
    } as const;
    const result = await measure(await SendLoad.open(settings, systemClock), { ...once, seconds: 0.1 }, quiet);
    assert.equal(result.messages, 0);
    assert.ok(result.errors['2']! > 0 && result.errors['10']! > 0);
  });

  it('counts every message of a batch', async () => {
    const settings = {
      targets: [target(2)],
      shape: { ...plain, bodyBytes: 10, perRequest: 32 },
      connections: 1,
      window: 2,
    } as const;
    const result = await measure(await SendLoad.open(settings, systemClock), { ...once, seconds: 0.1 }, quiet);
    assert.ok(result.messages > 0);
    assert.equal(result.messages % 32, 0);
  });

  for (const form of ['binary', 'json'] as const)
    it(`reads a backlog once, with ${form} headers`, async () => {
      broker.queue('T', 2).min = 10; // its first pull is answered PULL_OFFSET_MOVED
      for (const [queueId, count] of [700, 1, 33, 0, 64].entries())
        broker.fill(
          'T',
          queueId,
          Array.from({ length: count }, (_, index) => `m${index}`),
        );
      const settings = {
        targets: [target(5)],
        shape: { ...pulls, form },
        connections: 2,
        window: 8,
        again: false,
      };
      const result = await measure(await PullLoad.open(settings, systemClock), { ...once, seconds: 0 }, quiet);
      assert.equal(result.messages, 700 + 1 + 33 + 64);
      assert.deepEqual(result.errors, {});
    });

  for (const form of ['binary', 'json'] as const)
    it(`pulls as a member of a group that subscribes by heartbeats, with ${form} headers`, async () => {
      broker.fill('T', 0, ['a', 'b', 'c']);
      const filter = { type: 'SQL92', expression: 'a = 1' };
      const settings = {
        targets: [target(1)],
        shape: { ...pulls, form, group: 'G', joins: true, filter },
        connections: 1,
        window: 8,
        again: false,
      };
      const result = await measure(await PullLoad.open(settings, systemClock), { ...once, seconds: 0 }, quiet);
      assert.equal(result.messages, 3);
      const [beat] = broker.asked(RequestCode.HEART_BEAT);
      const [member] = decodeHeartbeat(beat!.body).consumerDataSet;
      const subscriptions = member!.subscriptionDataSet.map(({ topic, subString }) => `${topic} ${subString}`);
      assert.deepEqual([member!.groupName, ...subscriptions], ['G', 'T a = 1']);
      for (const { ext } of broker.asked(RequestCode.PULL_MESSAGE)) assert.equal(ext['sysFlag'], '0');
    });

  it('reads a backlog again and again for the time given', async () => {
    broker.fill('T', 0, ['a', 'b', 'c']);
    const settings = {
      targets: [target(2)],
      shape: pulls,
      connections: 1,
      window: 8,
      again: true,
    } as const;
    const result = await measure(await PullLoad.open(settings, systemClock), { ...once, seconds: 0.3 }, quiet);
    assert.ok(result.messages >= 6 && result.messages % 3 === 0, `${result.messages} messages`);
  });

  it('counts of one-way sends what the broker stored between two looks', async () => {
    const shape = { ...plain, bodyBytes: 10, oneWay: true };
    const settings = { targets: [target(2)], shape, connections: 2, window: 4 };
    // At the start, where the measured time begins, where it ends; at last 20 arrived and no more come.
    const looks = [100, 150, 400];
    const open = (): Promise<OneWayLoad> =>
      OneWayLoad.open(settings, systemClock, () => Promise.resolve(looks.shift() ?? 120));
    const result = await measure(await open(), { ...once, seconds: 0.1 }, quiet);
    assert.deepEqual([result.messages, Math.round(result.mebibytesPerSecond * result.seconds * 2 ** 20)], [250, 2500]);
    const requests = broker.asked(RequestCode.SEND_MESSAGE_V2);
    await until(() => broker.asked(RequestCode.SEND_MESSAGE_V2).length === result.oneWay!.written, 'all that was sent');
    assert.ok(requests.length > 0);
    assert.equal(result.oneWay!.stored, 20);
    assert.equal(result.latencyMicros.max, 0);
  });

  it('reads at the tail from where the queues ended, and only its own messages', async () => {
    const foreign = Buffer.alloc(20);
    foreign.writeDoubleBE(1e15, 8);
    broker.fill(
      'T',
      0,
      Array.from({ length: 502 }, () => foreign),
    );
    const settings = {
      targets: [target(1)],
      shape: { ...plain, bodyBytes: 20 },
      connections: 1,
      window: 2,
      perSecond: 200,
      pull: { ...pulls, suspendMs: 1000 },
      ends: () => 2,
    };
    const result = await measure(await TailLoad.open(settings, systemClock), { ...once, seconds: 0.2 }, quiet);
    const { queueOffset, sysFlag } = decodePullMessage(broker.asked(RequestCode.PULL_MESSAGE)[0]!.ext);
    assert.deepEqual([queueOffset, sysFlag], [2, 6]);
    const sent = broker.asked(RequestCode.SEND_MESSAGE_V2).length;
    assert.equal(broker.queue('T', 0).records.length, 502 + sent);
    assert.equal(result.missing, 0);
    assert.ok(result.messages > 0 && result.messages <= sent, `${result.messages} of ${sent}`);
  });

  it('fails when the broker goes away', async () => {
    broker.on(RequestCode.SEND_MESSAGE_V2, 'reset');
    const settings = {
      targets: [target(1)],
      shape: plain,
      connections: 1,
      window: 1,
    } as const;
    await assert.rejects(
      measure(await SendLoad.open(settings, systemClock), { ...once, seconds: 5 }, quiet),
      /closed the connection|ECONNRESET/,
    );
    const { port } = broker.server;
    await broker.close();
    await assert.rejects(
      SendLoad.open({ ...settings, targets: [target(1, port)] }, systemClock),
      /cannot connect to 127\.0\.0\.1/,
    );
    broker = await FakeBroker.start();
  });

  it('reads CPU time and memory of a process', () => {
    const stats = processStats(process.pid);
    if (process.platform !== 'linux') return assert.equal(stats, undefined);
    assert.ok(stats!.cpuMicros > 0 && stats!.rssAnonBytes > 2 ** 20);
    return assert.equal(processStats(2 ** 22 + 1), undefined);
  });
});

describe('bench socket', () => {
  it('puts frames together however they are cut', async () => {
    const frames = [4, 10, 1, 5000, 300_000, 7].map((size, index) => {
      const frame = Buffer.alloc(4 + Math.max(4, size), index);
      frame.writeInt32BE(frame.length - 4, 0);
      return frame;
    });
    const bytes = Buffer.concat(frames);
    for (const step of [1, 3, 4, 5, 1000, 65_536, bytes.length]) {
      const pieces = step === 1 ? bytes.subarray(0, 200) : bytes;
      const server = net.createServer({ noDelay: true }, async (socket) => {
        socket.on('error', () => undefined);
        for (let at = 0; at < pieces.length; at += step) {
          socket.write(pieces.subarray(at, at + step));
          if (step < 10 && at > 100) {
            socket.write(pieces.subarray(at + step));
            break;
          }
          await new Promise((resolve) => setImmediate(resolve));
        }
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const got: Buffer[] = [];
      const socket = await LoadSocket.open('127.0.0.1', (server.address() as net.AddressInfo).port, {
        frame: (buffer, start, end) => void got.push(Buffer.from(buffer.subarray(start, end))),
        chunkEnd: quiet,
        failed: quiet,
      });
      const wanted = step === 1 ? 3 : frames.length;
      await until(() => got.length === wanted, `all frames in steps of ${step}`);
      got.forEach((frame, index) => assert.ok(frame.equals(frames[index]!), `frame ${index} in steps of ${step}`));
      socket.close();
      server.close();
    }
  });

  it('fails on bytes that are no frames', async () => {
    const server = net.createServer((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    let failure: Error | undefined;
    await LoadSocket.open('127.0.0.1', (server.address() as net.AddressInfo).port, {
      frame: quiet,
      chunkEnd: quiet,
      failed: (error) => (failure = error),
    });
    await until(() => failure !== undefined, 'it failed');
    assert.match(failure!.message, /not this protocol/);
    server.close();
  });
});
