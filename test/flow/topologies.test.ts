import assert from 'node:assert/strict';
import { PullSysFlag, RequestCode, ResponseCode } from '../../protocol/codes.js';
import { encodeBatch } from '../../protocol/message/batch.js';
import type { BrokerProcess } from '../chaos/support/broker-process.js';
import { createTopic, Scene } from '../chaos/support/scene.js';
import { DiskFaults } from '../support/disk-faults.js';
import { RawClient } from '../support/raw-client.js';
import { propertyText, pull, pullAll, pullAsk, pulledOf, send, sendAsk, sentOf } from '../support/send-pull.js';

const WITHOUT_WAIT = propertyText({ WAIT: 'false' });
const UNAVAILABLE = ResponseCode.SERVICE_NOT_AVAILABLE;

/** The threads on which the log's files are written and synced. */
interface Threads {
  readonly writes: string;
  readonly syncs: string;
}

/**
 * What the store promises, in each preset topology: real threads, a disk that fails or waits as the test says. What the same
 * services do one step at a time is tested beside them (workers/, plugins/).
 */
const topologies: readonly (readonly [topology: string, threads: Threads])[] = [
  ['dedicated', { writes: 'commitlog', syncs: 'flush' }],
  ['fused', { writes: 'main', syncs: 'flush' }],
  ['paired', { writes: 'writer', syncs: 'writer' }],
];

for (const [topology, threads] of topologies) {
  describe(`topology ${topology} keeps the promises of the store`, function () {
    this.timeout(60_000);
    let scene: Scene;

    beforeEach(() => {
      scene = new Scene(1);
    });

    afterEach(async function () {
      if (this.currentTest?.state === 'failed') process.stderr.write(`${scene.logTails()}\n`);
      await scene.end();
    });

    it('SYNC_FLUSH answers and shows only what is synced; a failed sync answers no success, and makes the log read-only', async () => {
      const { broker, disk } = await serve(scene, { topology, flushDiskType: 'SYNC_FLUSH', syncFlushTimeout: 60_000 });
      {
        using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
        await heldSync(broker, client, disk, threads);
        await failedSync(client, disk, threads);
      }
      await killAndServe(broker, async (client) => {
        const again = await send(client, { body: Buffer.from('again') });
        const { queueOffset } = again.header;
        // The one whose sync failed may be there: it was neither acknowledged nor refused.
        assert.ok(queueOffset === 4 || queueOffset === 5, `the next message got offset ${queueOffset}`);
        const bodies = await bodiesOf(client, queueOffset + 1);
        assert.deepEqual(bodies, [...SYNCED, ...(queueOffset === 5 ? ['in doubt'] : []), 'again']);
      });
    });

    it('a write that fails is acknowledged to nobody and burns no offset; after a kill all that was acknowledged is there', async () => {
      const { broker, disk } = await serve(scene, { topology });
      {
        using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
        await failedWrites(client, disk, threads);
      }
      await killAndServe(broker, async (client) => {
        assert.equal((await send(client, { body: Buffer.from('again') })).header.queueOffset, 3);
        assert.deepEqual(await bodiesOf(client, 4), ['first', 'after a failed write', 'after a full disk', 'again']);
      });
    });
  });
}

const SYNCED = ['waits', 'batch 1', 'batch 2', 'does not wait'];

async function serve(scene: Scene, settings: Record<string, string | number>) {
  const broker = scene.broker(settings);
  const disk = new DiskFaults(broker.folder);
  broker.via = disk.via;
  await broker.start();
  await createTopic(broker.port, 'T', 1);
  return { broker, disk };
}

async function killAndServe(broker: BrokerProcess, check: (client: RawClient) => Promise<void>): Promise<void> {
  await broker.kill9();
  broker.via = [];
  await broker.start();
  using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
  await check(client);
}

/** While a sync does not come back only who does not wait is answered, and nothing is visible. */
async function heldSync(broker: BrokerProcess, client: RawClient, disk: DiskFaults, { syncs }: Threads): Promise<void> {
  using consumer = await RawClient.connect(`127.0.0.1:${broker.port}`);
  const answered: string[] = [];
  const noted = async <T>(name: string, promise: Promise<T>): Promise<T> => {
    const value = await promise;
    answered.push(name);
    return value;
  };
  disk.rule('hold syncs');
  const sysFlag = PullSysFlag.SUSPEND | PullSysFlag.SUBSCRIPTION;
  const polling = consumer.prepare(RequestCode.PULL_MESSAGE, pullAsk({ sysFlag }));
  consumer.write(polling.frame);
  const polled = noted('poll', polling.answer);
  const batch = encodeBatch(
    ['batch 1', 'batch 2'].map((body) => ({ flag: 0, body: Buffer.from(body), properties: '' })),
  );
  // One chunk, so that all are appended before the thread that syncs is held, whatever else runs on it.
  const [waits, batched, other] = [
    sendAsk({ body: Buffer.from('waits') }),
    sendAsk({ body: batch, code: RequestCode.SEND_BATCH_MESSAGE }),
    sendAsk({ body: Buffer.from('does not wait'), properties: WITHOUT_WAIT }),
  ].map(({ code, ask }) => client.prepare(code, ask)) as [Prepared, Prepared, Prepared];
  client.write(Buffer.concat([waits.frame, batched.frame, other.frame]));
  const first = noted('waits', waits.answer);
  const second = noted('batch', batched.answer);
  const third = sentOf(await noted('other', other.answer));
  assert.deepEqual([third.code, third.header.queueOffset], [ResponseCode.SUCCESS, 3]);
  await disk.met('held', syncs);
  await endsAt(client, 0);
  assert.deepEqual(answered, ['other'], 'answered before a sync came back');

  disk.rule('work');
  const [one, two] = [sentOf(await first), sentOf(await second)];
  assert.deepEqual([one.code, one.header.queueOffset, two.code, two.header.queueOffset], [0, 0, 0, 1]);
  assert.ok(pulledOf(await polled).messages.length > 0);
  assert.deepEqual(await bodiesOf(client, 4), SYNCED);
}

type Prepared = ReturnType<RawClient['prepare']>;

async function failedSync(client: RawClient, disk: DiskFaults, { syncs }: Threads): Promise<void> {
  disk.rule('fail syncs');
  const doubtful = await send(client, { body: Buffer.from('in doubt') });
  assert.equal(doubtful.code, ResponseCode.FLUSH_DISK_TIMEOUT);
  await disk.met('EIO', syncs);
  // It must not be tried again as if it could still succeed.
  disk.rule('work');
  for (const properties of ['', WITHOUT_WAIT]) {
    const refused = await send(client, { properties });
    assert.equal(refused.code, UNAVAILABLE, `answered ${refused.code} after a failed sync`);
    assert.match(String(refused.remark), /a sync of .*commitlog failed; restart the broker/);
  }
  await endsAt(client, 4);
  assert.deepEqual(await bodiesOf(client, 4), SYNCED);
}

/** Looks so often that whoever makes more visible has had the time to do it. */
async function endsAt(client: RawClient, queueOffset: number): Promise<void> {
  for (let i = 0; i < 200; i++) {
    const { code, header } = await pull(client, { queueOffset });
    assert.deepEqual([code, header.maxOffset], [ResponseCode.PULL_NOT_FOUND, queueOffset], 'visible, and not synced');
  }
}

async function failedWrites(client: RawClient, disk: DiskFaults, { writes }: Threads): Promise<void> {
  const refused = async (rule: 'fail records' | 'full' | 'fail writes', remark: RegExp): Promise<void> => {
    disk.rule(rule);
    const answer = await send(client, { body: Buffer.from(rule) });
    assert.equal(answer.code, UNAVAILABLE, `answered ${answer.code} under: ${rule}`);
    assert.match(String(answer.remark), remark);
    await disk.met(rule === 'full' ? 'ENOSPC' : 'EIO', writes);
    disk.rule('work');
  };
  const stored = async (body: string, queueOffset: number): Promise<void> => {
    const { code, header } = await send(client, { body: Buffer.from(body) });
    assert.deepEqual([code, header.queueOffset], [ResponseCode.SUCCESS, queueOffset], body);
  };
  await stored('first', 0);
  await refused('fail records', /a write to .*commitlog failed/);
  await stored('after a failed write', 1);
  await refused('full', /disk is full .* no space for .*commitlog/);
  await stored('after a full disk', 2);
  await refused('fail writes', /commitlog/);
  const { code, remark } = await send(client);
  assert.equal(code, UNAVAILABLE, `answered ${code} beside bytes that could not be erased`);
  assert.match(String(remark), /restart/);
  assert.deepEqual(await bodiesOf(client, 3), ['first', 'after a failed write', 'after a full disk']);
}

async function bodiesOf(client: RawClient, count: number): Promise<string[]> {
  return (await pullAll(client, count)).map(({ body }) => body.toString());
}
