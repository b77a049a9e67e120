import assert from 'node:assert/strict';
import type { Options } from '../../../config/options.js';
import { systemClock } from '../../../kernel/base/clock.js';
import { Kernel } from '../../../kernel/kernel.js';
import type { PluginManifest } from '../../../kernel/plugin.js';
import { Registration } from '../../../plugins/registration/contract.js';
import { manifest as registration } from '../../../plugins/registration/index.js';
import { NamesrvClient } from '../../../plugins/registration/namesrv-client.js';
import { Connections, NamesrvConnections, RequestRouter } from '../../../plugins/remoting/contract.js';
import { namesrvManifest } from '../../../plugins/remoting/index.js';
import { manifest as routes } from '../../../plugins/routes/index.js';
import { RouteTable } from '../../../plugins/routes/route-table.js';
import { Topics } from '../../../plugins/topics/contract.js';
import { TopicTable } from '../../../plugins/topics/topic-table.js';
import { TopicsFile } from '../../../plugins/topics/topics-file.js';
import { decodeRegisterBrokerBody } from '../../../protocol/bodies/register-broker.js';
import { decodeRegisterBroker, encodeRegisterBroker } from '../../../protocol/headers/register-broker.js';
import { crc32 } from '../../../protocol/message/crc.js';
import { defaultOptions } from '../../support/default-options.js';
import { FakeConnections, FakeRouter } from '../../support/fake-connection.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { until } from '../../support/until.js';
import { ScriptedNamesrv } from './scripted-namesrv.js';

const remoting: PluginManifest = {
  name: 'remoting',
  needs: [],
  provides: [RequestRouter, Connections],
  setup(container) {
    container.registerInstance(RequestRouter, new FakeRouter());
    container.registerInstance(Connections, new FakeConnections(12345));
  },
};
const topics: PluginManifest = {
  name: 'topics',
  needs: [],
  provides: [Topics],
  setup(container) {
    container.registerSingleton(TopicsFile);
    container.registerSingleton(TopicTable);
    container.register(Topics, { useToken: TopicTable });
  },
};

interface Booted extends AsyncDisposable {
  readonly kernel: Kernel;
  readonly logger: ReturnType<typeof recordingLogger>;
}

async function boot(plugins: PluginManifest[], changes: Partial<Options>): Promise<Booted> {
  const options = defaultOptions({ memory: true, bindAddress: '127.0.0.1', namesrvListenPort: 0, ...changes });
  const logger = recordingLogger();
  const kernel = await Kernel.boot({ plugins, options, clock: systemClock, logger });
  return { kernel, logger, [Symbol.asyncDispose]: () => kernel.stop('test') };
}

const broker = (changes: Partial<Options>): Promise<Booted> => boot([remoting, topics, registration], changes);

/** The name server's plugins, with its table laid open. */
function namesrv(): { plugins: PluginManifest[]; table: () => RouteTable } {
  let table: (() => RouteTable) | undefined;
  const open: PluginManifest = {
    ...routes,
    async setup(container) {
      await routes.setup(container);
      table = () => container.resolve(RouteTable);
    },
  };
  return { plugins: [namesrvManifest, open], table: () => table?.() ?? assert.fail('not set up') };
}

describe('plugins/registration: a broker and its name servers', () => {
  it('registers at each of them when it opens, follows topic changes, and unregisters when it closes', async () => {
    const [one, two] = [namesrv(), namesrv()];
    await using first = await boot(one.plugins, {});
    await using second = await boot(two.plugins, {});
    const ports = [first, second].map(({ kernel }) => kernel.get(NamesrvConnections).port);
    const at = await broker({ namesrvAddr: ports.map((port) => `127.0.0.1:${port}`).join(';') });
    const tables = [one.table(), two.table()];
    for (const table of tables) {
      const addrs = table.clusterInfo().brokerAddrTable.get('broker-a')?.brokerAddrs;
      assert.deepEqual(addrs, new Map([[0, '127.0.0.1:12345']]));
      assert.equal(table.route('BenchmarkTest')?.queueDatas[0]?.writeQueueNums, 1024);
    }
    at.kernel.get(Topics).createOnSend('T', 'TBW102', 4, 'c', false);
    await until(() => tables.every((table) => table.route('T') !== undefined), 'the new topic is known everywhere');
    await at.kernel.stop('test');
    for (const table of tables) assert.equal(table.clusterInfo().brokerAddrTable.size, 0);
    const lines = [first, second].flatMap(({ logger }) => logger.lines.map(({ message }) => message));
    assert.equal(lines.filter((message) => message === 'broker removed: it unregistered').length, 2);
  });

  it('is gone from the name server at once when its process ends without a word', async () => {
    const ns = namesrv();
    await using server = await boot(ns.plugins, {});
    const { port } = server.kernel.get(NamesrvConnections);
    const client = new NamesrvClient(1000, () => undefined);
    const identity = { brokerName: 'a', brokerAddr: 'x:1', clusterName: 'C', brokerId: 0 };
    const ext = encodeRegisterBroker({ ...identity, haServerAddr: 'x:2', compressed: false, bodyCrc32: 0 });
    const answer = await client.call({ host: '127.0.0.1', port }, 103, ext, undefined, 1000);
    assert.deepEqual([answer.code, ns.table().clusterInfo().brokerAddrTable.size], [0, 1]);
    // What the name server sees of a kill -9: the end of the connection.
    client.close();
    await until(() => ns.table().clusterInfo().brokerAddrTable.size === 0, 'the broker is gone');
  });

  it('takes the own name server of the same process, whatever port it got', async () => {
    const ns = namesrv();
    await using at = await boot([...ns.plugins, remoting, topics, registration], { namesrvAddr: '' });
    assert.equal(at.kernel.get(Registration).lastResults[0]?.ok, true);
    assert.equal(ns.table().clusterInfo().brokerAddrTable.size, 1);
  });

  it('opens although one name server is down, and holds the others up for nothing', async () => {
    const down = await ScriptedNamesrv.listen();
    const { port } = down;
    await down.stop();
    await using up = await ScriptedNamesrv.listen();
    await using at = await broker({ namesrvAddr: `127.0.0.1:${port};127.0.0.1:${up.port}` });
    assert.deepEqual(
      at.kernel.get(Registration).lastResults.map(({ ok }) => ok),
      [false, true],
    );
  });

  it('does not start with an address that is none', async () => {
    await assert.rejects(broker({ namesrvAddr: 'nonsense' }), /namesrvAddr/);
  });

  for (const compressedRegister of [false, true]) {
    it(`sends what a broker of 4.9.7 sends, ${compressedRegister ? 'compressed' : 'plain'}`, async () => {
      await using ns = await ScriptedNamesrv.listen();
      const namesrvAddr = `127.0.0.1:${ns.port}`;
      await using at = await broker({ namesrvAddr, compressedRegister, brokerIP2: '10.1.1.1', brokerId: 2 });
      const request = ns.requests[0] ?? assert.fail();
      const header = decodeRegisterBroker(request.ext);
      assert.deepEqual(header, {
        brokerName: 'broker-a',
        brokerAddr: '127.0.0.1:12345',
        clusterName: 'DefaultCluster',
        haServerAddr: '10.1.1.1:12346',
        brokerId: 2,
        compressed: compressedRegister,
        bodyCrc32: crc32(request.body),
      });
      const { topicConfigSerializeWrapper: wrapper } = decodeRegisterBrokerBody(request.body, compressedRegister);
      const table = at.kernel.get(Topics);
      assert.deepEqual(wrapper, { topicConfigTable: table.all(), dataVersion: table.dataVersion });
    });
  }

  it('tells of each topic that the broker may not be written', async () => {
    await using ns = await ScriptedNamesrv.listen();
    await using _at = await broker({ namesrvAddr: `127.0.0.1:${ns.port}`, brokerPermission: 4 });
    const { topicConfigSerializeWrapper: wrapper } = decodeRegisterBrokerBody(
      ns.requests[0]?.body ?? Buffer.alloc(0),
      false,
    );
    assert.deepEqual(new Set([...wrapper.topicConfigTable.values()].map(({ perm }) => perm)), new Set([4]));
    assert.equal(wrapper.topicConfigTable.get('BenchmarkTest')?.writeQueueNums, 1024);
  });

  it('takes the order configuration of the first name server that answers', async () => {
    await using first = await ScriptedNamesrv.listen();
    await using second = await ScriptedNamesrv.listen();
    first.answer = () => ({ code: 0, ext: {}, body: Buffer.from('{"table":{"BenchmarkTest":"a:4"}}') });
    second.answer = () => ({ code: 0, ext: {}, body: Buffer.from('{"table":{"SELF_TEST_TOPIC":"a:4"}}') });
    await using at = await broker({ namesrvAddr: `127.0.0.1:${first.port};127.0.0.1:${second.port}` });
    const order = [...at.kernel.get(Topics).all().values()]
      .filter((topic) => topic.order)
      .map((topic) => topic.topicName);
    assert.deepEqual(order, ['BenchmarkTest']);
  });
});
