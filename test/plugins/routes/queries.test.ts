import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeKVTable } from '../../../protocol/bodies/kv-table.js';
import { decodeClusterInfo, decodeTopicRouteData } from '../../../protocol/bodies/route.js';
import { decodeTopicList } from '../../../protocol/bodies/topic-list.js';
import { KvConfig } from '../../../plugins/routes/kv-config.js';
import { KvFile } from '../../../plugins/routes/kv-file.js';
import { defaultOptions } from '../../support/default-options.js';
import { bodyOf } from '../../support/fake-connection.js';
import { localPool } from '../../support/local-pool.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { tempDir } from '../../support/temp-dir.js';
import { register, setUp, topic, type SetUp } from './set-up.js';

const text = (reply: Parameters<typeof bodyOf>[0]): string => bodyOf(reply).toString();

describe('plugins/routes: GET_ROUTEINFO_BY_TOPIC (105)', () => {
  const fastjson =
    '{"brokerDatas":[{"brokerAddrs":{0:"10.0.0.1:10911",1:"10.0.0.2:10911"},"brokerName":"a","cluster":"C"}],' +
    '"filterServerTable":{},"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}';
  const standard = fastjson.replace('{0:', '{"0":').replace(',1:', ',"1":');

  const cases: readonly [version: number, flag: string | undefined, body: string][] = [
    [0, undefined, fastjson],
    [400, undefined, fastjson],
    [401, undefined, standard],
    [407, undefined, standard],
    [0, 'true', standard],
    [400, 'false', fastjson],
  ];
  for (const [version, acceptStandardJsonOnly, body] of cases) {
    it(`B35: version ${version}, acceptStandardJsonOnly ${acceptStandardJsonOnly}`, async () => {
      const at = setUp();
      await register(at, { id: 1, addr: '10.0.0.2:10911' });
      await register(at);
      const flag: Record<string, string> = acceptStandardJsonOnly === undefined ? {} : { acceptStandardJsonOnly };
      const ext = { topic: 'T', ...flag };
      const reply = await at.router.call(105, { ext, version });
      assert.deepEqual([reply.code, text(reply)], [0, body]);
    });
  }

  it('answers 17 with the words of 4.9 when there is no broker with the topic', async () => {
    const at = setUp();
    const reply = await at.router.call(105, { ext: { topic: 'T' } });
    const remark =
      'No topic route info in name server for the topic: T\nSee http://rocketmq.apache.org/docs/faq/ for further details.';
    assert.deepEqual([reply.code, reply.remark], [17, remark]);
    assert.equal((await at.router.call(105)).code, 1);
  });

  it('carries the order configuration only when orderMessageEnable is on', async () => {
    for (const orderMessageEnable of [false, true]) {
      const at = setUp({ orderMessageEnable });
      await at.kv.put('ORDER_TOPIC_CONFIG', 'T', 'a:4');
      await register(at);
      const route = decodeTopicRouteData(bodyOf(await at.router.call(105, { ext: { topic: 'T' } })));
      assert.equal(route.orderTopicConf, orderMessageEnable ? 'a:4' : undefined);
    }
  });
});

describe('plugins/routes: lists', () => {
  const topics = async ({ router }: SetUp, code: number, ext: Record<string, string> = {}) => {
    return decodeTopicList(bodyOf(await router.call(code, { ext })));
  };

  it('GET_BROKER_CLUSTER_INFO (106), always with bare number keys', async () => {
    const at = setUp();
    await register(at);
    const reply = await at.router.call(106);
    assert.equal(
      text(reply),
      '{"brokerAddrTable":{"a":{"brokerAddrs":{0:"10.0.0.1:10911"},"brokerName":"a","cluster":"C"}},"clusterAddrTable":{"C":["a"]}}',
    );
    assert.deepEqual(decodeClusterInfo(bodyOf(reply)), at.routes.clusterInfo());
  });

  it('all topics (206), of a cluster (224), of the system (304)', async () => {
    const at = setUp();
    assert.deepEqual(await topics(at, 304), { topicList: [], brokerAddr: undefined });
    await register(at, { topics: ['T', 'T2'] });
    await register(at, { cluster: 'D', name: 'b', addr: '10.0.0.3:1', topics: ['T3'] });
    assert.deepEqual((await topics(at, 206)).topicList, ['T', 'T2', 'T3']);
    assert.deepEqual((await topics(at, 224, { cluster: 'D' })).topicList, ['T3']);
    assert.deepEqual((await topics(at, 224, { cluster: 'none' })).topicList, []);
    assert.deepEqual(await topics(at, 304), { topicList: ['C', 'a', 'D', 'b'], brokerAddr: '10.0.0.1:10911' });
  });

  it('topics of units (311, 312, 313)', async () => {
    const at = setUp();
    const flagged = [0, 1, 2, 3].map((topicSysFlag) => topic(`T${topicSysFlag}`, { topicSysFlag }));
    await register(at, { topics: flagged });
    assert.deepEqual((await topics(at, 311)).topicList, ['T1', 'T3']);
    assert.deepEqual((await topics(at, 312)).topicList, ['T2', 'T3']);
    assert.deepEqual((await topics(at, 313)).topicList, ['T2']);
  });

  it('DELETE_TOPIC_IN_NAMESRV (216), everywhere or in one cluster', async () => {
    const at = setUp();
    await register(at);
    await register(at, { cluster: 'D', name: 'b', addr: '10.0.0.3:1' });
    assert.equal((await at.router.call(216, { ext: { topic: 'T', clusterName: 'C' } })).code, 0);
    assert.deepEqual(
      at.routes.route('T')?.queueDatas.map(({ brokerName }) => brokerName),
      ['b'],
    );
    await at.router.call(216, { ext: { topic: 'T' } });
    assert.equal(at.routes.route('T'), undefined);
    assert.equal((await at.router.call(216, { ext: { topic: 'NoSuch', clusterName: 'C' } })).code, 0);
  });

  it('WIPE_WRITE_PERM_OF_BROKER (205) and ADD_WRITE_PERM_OF_BROKER (327)', async () => {
    const at = setUp();
    await register(at, { topics: [topic('T', { perm: 7 }), topic('T2', { perm: 4 })] });
    await register(at, { name: 'b', addr: '10.0.0.3:1' });
    const perms = (): number[] => ['T', 'T2'].map((name) => at.routes.route(name)?.queueDatas[0]?.perm ?? -1);
    const wiped = await at.router.call(205, { ext: { brokerName: 'a' } });
    assert.deepEqual([wiped.code, wiped.ext?.['wipeTopicCount'], perms()], [0, '2', [5, 4]]);
    assert.equal(at.routes.route('T')?.queueDatas[1]?.perm, 6);
    const added = await at.router.call(327, { ext: { brokerName: 'a' } });
    assert.deepEqual([added.code, added.ext?.['addTopicCount'], perms()], [0, '2', [6, 6]]);
    assert.equal((await at.router.call(205, { ext: { brokerName: 'x' } })).ext?.['wipeTopicCount'], '0');
  });
});

describe('plugins/routes: key-value settings (100, 101, 102, 219)', () => {
  it('put, get, list, delete', async () => {
    const { router } = setUp();
    const name = { namespace: 'N', key: 'K' };
    const missing = await router.call(101, { ext: name });
    assert.deepEqual([missing.code, missing.remark], [22, 'No config item, Namespace: N Key: K']);
    const noList = await router.call(219, { ext: { namespace: 'N' } });
    assert.deepEqual([noList.code, noList.remark], [22, 'No config item, Namespace: N']);
    assert.equal((await router.call(100, { ext: { ...name, value: 'v=1;"x"' } })).code, 0);
    assert.equal((await router.call(101, { ext: name })).ext?.['value'], 'v=1;"x"');
    assert.deepEqual(
      decodeKVTable(bodyOf(await router.call(219, { ext: { namespace: 'N' } }))),
      new Map([['K', 'v=1;"x"']]),
    );
    assert.equal((await router.call(102, { ext: name })).code, 0);
    assert.equal((await router.call(101, { ext: name })).code, 22);
    assert.equal(text(await router.call(219, { ext: { namespace: 'N' } })), '{"table":{}}');
    assert.match((await router.call(100, { ext: { ...name, value: 'x'.repeat(65_537) } })).remark ?? '', /value/);
    assert.match((await router.call(100, { ext: name })).remark ?? '', /value is missing/);
  });

  it("are kept in the original's kvConfig.json", async () => {
    using dir = tempDir();
    const kvConfigPath = join(dir.path, 'namesrv', 'kvConfig.json');
    const options = defaultOptions({ kvConfigPath });
    const make = (): KvConfig => new KvConfig(new KvFile(options, localPool, recordingLogger()), recordingLogger());
    const kv = make();
    kv.load();
    await kv.put('ORDER_TOPIC_CONFIG', 'T', 'broker-a:4;broker-b:4');
    await kv.put('NS', 'gone', '1');
    await kv.delete('NS', 'gone');
    // KVConfigSerializeWrapper#toJson of 4.9.7 with this content.
    const java = '{"configTable":{"ORDER_TOPIC_CONFIG":{"T":"broker-a:4;broker-b:4"},"NS":{}}}';
    assert.equal(readFileSync(kvConfigPath, 'utf8'), java);
    const again = make();
    again.load();
    assert.equal(again.get('ORDER_TOPIC_CONFIG', 'T'), 'broker-a:4;broker-b:4');
    assert.deepEqual(again.namespace('NS'), new Map());
  });
});

describe('plugins/routes: settings of the name server (318, 319)', () => {
  const change = async ({ router }: SetUp, body: string) => {
    const { code, remark } = await router.call(318, { body: Buffer.from(body) });
    return [code, remark ?? ''];
  };

  it('shows them as properties', async () => {
    const at = setUp({ namesrvListenPort: 9876 });
    const lines = text(await at.router.call(319)).split('\n');
    for (const line of ['listenPort=9876', 'orderMessageEnable=false', 'productEnvName=center']) {
      assert.ok(lines.includes(line), line);
    }
  });

  it('changes orderMessageEnable until the end, ignores unknown names', async () => {
    const at = setUp();
    assert.deepEqual(await change(at, '#x\n\norderMessageEnable=true\nnoSuchName=1\n'), [0, '']);
    assert.ok(text(await at.router.call(319)).includes('orderMessageEnable=true\n'));
    assert.deepEqual(await change(at, 'orderMessageEnable=perhaps'), [1, 'orderMessageEnable must be true or false']);
    assert.deepEqual(await change(at, ''), [0, '']);
  });

  for (const name of ['kvConfigPath', 'configStorePath', 'configBlackList', 'rocketmqHome']) {
    it(`CVE-2023-37582: refuses ${name} with 16 and changes nothing`, async () => {
      const at = setUp();
      const wanted = `orderMessageEnable=true\n ${name} : /tmp/x`;
      assert.deepEqual(await change(at, wanted), [16, 'Can not update config path']);
      assert.ok(text(await at.router.call(319)).includes('orderMessageEnable=false\n'));
    });
  }

  it('refuses what is fixed while it runs, unless it stays the same', async () => {
    const at = setUp({ namesrvListenPort: 9876 });
    assert.deepEqual(await change(at, 'listenPort=9876'), [0, '']);
    assert.deepEqual(await change(at, 'listenPort=1'), [16, 'listenPort cannot be changed while the name server runs']);
  });
});
