import assert from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import { decodeKVTable } from '../../../protocol/bodies/kv-table.js';
import {
  decodeDataVersion,
  encodeDataVersion,
  encodeTopicConfigSerializeWrapper,
} from '../../../protocol/bodies/topic-config.js';
import { encodeRegisterBroker } from '../../../protocol/headers/register-broker.js';
import { bodyOf } from '../../support/fake-connection.js';
import { register, setUp, topic, type SetUp } from './set-up.js';

const MASTER = '10.0.0.1:10911';
const SLAVE = '10.0.0.2:10911';

/** Broker addresses by id under a topic's route, or undefined when there is none. */
function addrs({ routes }: SetUp, topicName = 'T', brokerName = 'a'): Record<number, string> | undefined {
  const broker = routes.route(topicName)?.brokerDatas.find((one) => one.brokerName === brokerName);
  return broker === undefined ? undefined : Object.fromEntries(broker.brokerAddrs);
}

function queues({ routes }: SetUp, topicName = 'T'): number[] {
  return (routes.route(topicName)?.queueDatas ?? []).map(({ writeQueueNums }) => writeQueueNums);
}

const header = (more: object = {}): Record<string, string> => ({
  ...encodeRegisterBroker({
    clusterName: 'C',
    brokerName: 'a',
    brokerId: 0,
    brokerAddr: MASTER,
    haServerAddr: 'ha',
    compressed: false,
    bodyCrc32: 0,
    ...more,
  }),
});

describe('plugins/routes: REGISTER_BROKER (103)', () => {
  for (const compressed of [false, true]) {
    it(`takes the topics of a master, ${compressed ? 'compressed' : 'plain'} body`, async () => {
      const at = setUp();
      const topics = [topic('T', { writeQueueNums: 3, readQueueNums: 5, perm: 4 }), 'T2'];
      assert.equal((await register(at, { topics, compressed })).code, 0);
      assert.deepEqual(at.routes.route('T'), {
        queueDatas: [{ brokerName: 'a', readQueueNums: 5, writeQueueNums: 3, perm: 4, topicSysFlag: 0 }],
        brokerDatas: [{ cluster: 'C', brokerName: 'a', brokerAddrs: new Map([[0, MASTER]]) }],
        filterServerTable: new Map(),
      });
      assert.deepEqual(at.routes.topicNames(), ['T', 'T2']);
    });
  }

  it('ignores topics when the data version is unchanged, and takes them when it changed', async () => {
    const at = setUp();
    const connection = at.connections.connect();
    await register(at, { connection, topics: [topic('T', { writeQueueNums: 4 })] });
    await register(at, { connection, topics: [topic('T', { writeQueueNums: 9 }), 'New'] });
    assert.deepEqual([queues(at), queues(at, 'New')], [[4], []]);
    await register(at, {
      connection,
      topics: [topic('T', { writeQueueNums: 9 })],
      version: { timestamp: 1, counter: 2 },
    });
    assert.deepEqual(queues(at), [9]);
    await register(at, {
      connection,
      topics: [topic('T', { writeQueueNums: 2 })],
      version: { timestamp: 0, counter: 2 },
    });
    assert.deepEqual(queues(at), [2], 'a version that went back is another version too');
  });

  it('keeps topics that a later registration does not name, as 4.9 does', async () => {
    const at = setUp();
    const connection = at.connections.connect();
    await register(at, { connection, topics: ['T', 'Old'] });
    await register(at, { connection, topics: ['T'], version: { timestamp: 2, counter: 2 } });
    assert.deepEqual(queues(at, 'Old'), [4]);
  });

  it('answers a slave with its master and the HA address, and takes no topics from it', async () => {
    const at = setUp();
    const early = await register(at, { id: 1, addr: SLAVE, topics: ['Slave'] });
    assert.deepEqual(early.ext, {}, 'before the master registered');
    await register(at, { ha: '10.9.9.9:10912' });
    const reply = await register(at, { id: 1, addr: SLAVE, topics: ['Slave'], version: { timestamp: 5, counter: 5 } });
    assert.deepEqual({ ...reply.ext }, { masterAddr: MASTER, haServerAddr: '10.9.9.9:10912' });
    assert.deepEqual(at.routes.topicNames(), ['T']);
    assert.deepEqual(addrs(at), { 0: MASTER, 1: SLAVE });
  });

  it('moves an address that comes back under another id: a slave that became master', async () => {
    const at = setUp();
    const connection = at.connections.connect();
    await register(at, { id: 1, addr: SLAVE, connection });
    await register(at, { id: 0, addr: SLAVE, connection });
    assert.deepEqual(addrs(at), { 0: SLAVE });
    assert.deepEqual(
      queues(at),
      [4],
      'the first registration as master brings the topics although the version is the same',
    );
  });

  it('moves an address that comes back under another name', async () => {
    const at = setUp();
    const connection = at.connections.connect();
    await register(at, { name: 'old', connection });
    await register(at, { name: 'new', connection });
    assert.equal(addrs(at, 'T', 'old'), undefined);
    assert.deepEqual(addrs(at, 'T', 'new'), { 0: MASTER });
    assert.deepEqual(at.routes.clusterInfo().clusterAddrTable, new Map([['C', ['new']]]));
  });

  it('routes a topic of several brokers and clusters to all of them', async () => {
    const at = setUp();
    await register(at, {});
    await register(at, { name: 'b', addr: '10.0.0.3:1', topics: ['T', 'Only'] });
    await register(at, { name: 'c', addr: '10.0.0.4:1', cluster: 'D' });
    assert.deepEqual(
      at.routes.route('T')?.brokerDatas.map(({ cluster, brokerName }) => `${cluster}/${brokerName}`),
      ['C/a', 'C/b', 'D/c'],
    );
    assert.deepEqual(at.routes.topicsOfCluster('C'), ['T', 'Only']);
    assert.deepEqual(at.routes.topicsOfCluster('D'), ['T']);
  });

  it('keeps filter servers until they are withdrawn', async () => {
    const at = setUp();
    const connection = at.connections.connect();
    await register(at, { connection, filterServers: ['f:1'] });
    assert.deepEqual(at.routes.route('T')?.filterServerTable, new Map([[MASTER, ['f:1']]]));
    await register(at, { connection });
    assert.deepEqual(at.routes.route('T')?.filterServerTable, new Map());
  });

  it('answers with the order configuration', async () => {
    const at = setUp();
    assert.equal((await register(at)).body, undefined);
    await at.kv.put('ORDER_TOPIC_CONFIG', 'T', 'a:4');
    assert.deepEqual(decodeKVTable(bodyOf(await register(at))), new Map([['T', 'a:4']]));
  });

  it('reads the bare topic table of brokers before 3.0.11', async () => {
    const at = setUp();
    const topicConfigTable = new Map([['T', topic('T')]]);
    const body = encodeTopicConfigSerializeWrapper({ topicConfigTable, dataVersion: { timestamp: 1, counter: 1 } });
    assert.equal((await at.router.call(103, { ext: header(), body, version: 36 })).code, 0);
    assert.deepEqual(queues(at), [4]);
    assert.equal((await at.router.call(103, { ext: header(), body, version: 37 })).code, 1);
  });

  it('takes a registration without a body as one of version 0 without topics', async () => {
    const at = setUp();
    assert.equal((await at.router.call(103, { ext: header() })).code, 0);
    assert.deepEqual(at.routes.versionOf(MASTER), { timestamp: 0, counter: 0 });
  });

  it('refuses a wrong checksum, broken bodies, bombs and impossible names, and keeps nothing of them', async () => {
    const at = setUp();
    const good = encodeTopicConfigSerializeWrapper({
      topicConfigTable: new Map(),
      dataVersion: { timestamp: 1, counter: 1 },
    });
    const bomb = deflateSync(Buffer.alloc(64 * 1024 * 1024));
    const cases: readonly [ext: Record<string, string>, body: Buffer, remark: RegExp][] = [
      [header({ bodyCrc32: 5 }), good, /^crc32 not match$/],
      [header(), Buffer.from('{"topicConfigSerializeWrapper":'), /RegisterBrokerBody/],
      [header(), Buffer.from('[]'), /RegisterBrokerBody/],
      [header({ compressed: true }), Buffer.from('no zlib'), /RegisterBrokerBody/],
      [header({ compressed: true }), bomb, /RegisterBrokerBody/],
      [header({ compressed: true }), deflateSync(Buffer.from([0, 0, 0, 9, 0x7b])), /RegisterBrokerBody/],
      [header({ brokerName: '' }), good, /brokerName/],
      [header({ clusterName: 'x'.repeat(513) }), good, /clusterName/],
      [header({ brokerId: -1 }), good, /brokerId/],
    ];
    for (const [ext, body, remark] of cases) {
      const reply = await at.router.call(103, { ext, body });
      assert.equal(reply.code, 1);
      assert.match(reply.remark ?? '', remark);
    }
    assert.equal(at.routes.clusterInfo().brokerAddrTable.size, 0);
  });
});

describe('plugins/routes: QUERY_DATA_VERSION (322)', () => {
  const ask = async (at: SetUp, counter: number) => {
    const ext = { clusterName: 'C', brokerName: 'a', brokerAddr: MASTER, brokerId: '0' };
    const reply = await at.router.call(322, { ext, body: encodeDataVersion({ timestamp: 1, counter }) });
    return [
      reply.code,
      reply.ext?.['changed'],
      reply.body === undefined ? undefined : decodeDataVersion(bodyOf(reply)).counter,
    ];
  };

  it('compares with the last registration and sends its version', async () => {
    const at = setUp();
    assert.deepEqual(await ask(at, 1), [0, 'true', undefined]);
    await register(at);
    assert.deepEqual(await ask(at, 1), [0, 'false', 1]);
    assert.deepEqual(await ask(at, 2), [0, 'true', 1]);
  });

  it('is a sign of life when nothing changed, and none when something did', async () => {
    const at = setUp();
    await register(at);
    at.clock.advance(119_000);
    await ask(at, 1);
    at.clock.advance(119_000);
    at.routes.expire();
    assert.deepEqual(addrs(at), { 0: MASTER });
    await ask(at, 2);
    at.clock.advance(1001);
    at.routes.expire();
    assert.equal(addrs(at), undefined);
  });
});

describe('plugins/routes: brokers that go', () => {
  it('unregister (104): with the last address the name, its topics and its cluster go', async () => {
    const at = setUp();
    await register(at);
    await register(at, { id: 1, addr: SLAVE });
    const ext = { clusterName: 'C', brokerName: 'a' };
    assert.equal((await at.router.call(104, { ext: { ...ext, brokerAddr: MASTER, brokerId: '0' } })).code, 0);
    assert.deepEqual(addrs(at), { 1: SLAVE });
    await at.router.call(104, { ext: { ...ext, brokerAddr: SLAVE, brokerId: '1' } });
    assert.deepEqual([at.routes.topicNames(), at.routes.clusterInfo().clusterAddrTable.size], [[], 0]);
  });

  it('unregister (104) of another address does not take the one that holds the id now', async () => {
    const at = setUp();
    await register(at, { addr: 'old:1' });
    await register(at);
    const ext = { clusterName: 'C', brokerName: 'a', brokerAddr: 'old:1', brokerId: '0' };
    assert.equal((await at.router.call(104, { ext })).code, 0);
    assert.deepEqual(addrs(at), { 0: MASTER });
  });

  it('a connection that closes unregisters every broker that came over it, at once', async () => {
    const at = setUp();
    const connection = at.connections.connect();
    await register(at, { connection });
    await register(at, { name: 'b', addr: '10.0.0.3:1', connection });
    await register(at, { name: 'c', addr: '10.0.0.4:1' });
    connection.close('test');
    assert.deepEqual([...at.routes.clusterInfo().brokerAddrTable.keys()], ['c']);
  });

  it('a connection that closes after the broker came back on a new one takes nothing', async () => {
    const at = setUp();
    const old = at.connections.connect();
    await register(at, { connection: old });
    await register(at);
    old.close('test');
    assert.deepEqual(addrs(at), { 0: MASTER });
  });

  it('a registration whose connection closed meanwhile is not kept', async () => {
    const at = setUp();
    const connection = at.connections.connect();
    connection.close('test');
    await register(at, { connection });
    assert.equal(addrs(at), undefined);
  });

  it('expire after two minutes without a registration, by the monotonic clock alone (B40b)', async () => {
    const at = setUp();
    const connection = at.connections.connect();
    await register(at, { connection });
    at.clock.stepWall(3_600_000);
    at.routes.expire();
    at.clock.stepWall(-7_200_000);
    at.clock.advance(120_000);
    at.routes.expire();
    assert.deepEqual(addrs(at), { 0: MASTER });
    at.clock.advance(1);
    at.routes.expire();
    assert.equal(addrs(at), undefined);
    assert.equal(connection.closed, true);
  });

  it('a master that goes leaves its slave, and the topics, behind', async () => {
    const at = setUp();
    const connection = at.connections.connect();
    await register(at, { connection });
    await register(at, { id: 1, addr: SLAVE });
    connection.close('test');
    assert.deepEqual([addrs(at), queues(at)], [{ 1: SLAVE }, [4]]);
  });
});
