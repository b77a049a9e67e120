import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InjectionToken } from 'tsyringe';
import { systemClock } from '../../../kernel/base/clock.js';
import { Kernel } from '../../../kernel/kernel.js';
import type { PluginManifest } from '../../../kernel/plugin.js';
import { LogReader, StoreState } from '../../../plugins/commitlog/contract.js';
import { filterPlugin } from '../../../plugins/filter/index.js';
import { Consumers, Producers, SubscriptionGroups } from '../../../plugins/groups/contract.js';
import { manifest as groups } from '../../../plugins/groups/index.js';
import { manifest as offsets } from '../../../plugins/offsets/index.js';
import { Connections, RequestRouter } from '../../../plugins/remoting/contract.js';
import { Queues } from '../../../plugins/reput/contract.js';
import { Topics } from '../../../plugins/topics/contract.js';
import { manifest as topics } from '../../../plugins/topics/index.js';
import { encodeHeartbeat } from '../../../protocol/bodies/heartbeat.js';
import { defaultOptions } from '../../support/default-options.js';
import { FakeConnections, FakeRouter } from '../../support/fake-connection.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { tempDir } from '../../support/temp-dir.js';
import { until } from '../../support/until.js';
import { consumerOf, subscriptionTo } from '../../support/send-pull.js';

function provide(name: string, ...given: readonly (readonly [token: InjectionToken, value: object])[]): PluginManifest {
  return {
    name,
    needs: [],
    provides: given.map(([token]) => token),
    setup: (container) => given.forEach(([token, value]) => container.registerInstance(token, value)),
  };
}

/** Topics, groups and offsets over a router without a network. */
async function boot(dir: string, changes = {}) {
  const router = new FakeRouter();
  const connections = new FakeConnections();
  const kernel = await Kernel.boot({
    plugins: [
      provide('remoting', [RequestRouter, router], [Connections, connections]),
      provide('commitlog', [LogReader, {}], [StoreState, { recovered: false }]),
      provide('reput', [Queues, { deleteTopic: async () => undefined }]),
      topics,
      groups,
      offsets,
      filterPlugin(),
    ],
    options: defaultOptions({ storePathRootDir: dir, storePathCommitLog: join(dir, 'commitlog'), ...changes }),
    clock: systemClock,
    logger: recordingLogger(),
  });
  const stop = { [Symbol.asyncDispose]: () => kernel.stop('test') };
  return { kernel, router, connections, ...stop };
}

const body = encodeHeartbeat({
  clientID: 'c1',
  producerDataSet: [{ groupName: 'P' }],
  consumerDataSet: [consumerOf('G', [subscriptionTo('T')])],
});

describe('plugins/topics, groups and offsets in a kernel', () => {
  it('answer their request codes', async () => {
    using dir = tempDir();
    await using at = await boot(dir.path);
    assert.deepEqual(
      at.router.codes,
      [14, 15, 17, 21, 34, 35, 38, 41, 42, 43, 46, 200, 201, 203, 204, 207, 215, 305, 328],
    );
  });

  it('share one table each, and hear of closed connections', async () => {
    using dir = tempDir();
    await using at = await boot(dir.path);
    const connection = at.connections.connect();
    assert.equal((await at.router.call(34, { body, connection })).code, 0);
    assert.ok(at.kernel.get(Topics).get('%RETRY%G'));
    assert.ok(at.kernel.get(SubscriptionGroups).all().get('G'));
    assert.ok(at.kernel.get(Consumers).group('G'));
    assert.ok(at.kernel.get(Producers).channels('P'));
    connection.close('test');
    assert.equal(at.kernel.get(Consumers).group('G'), undefined);
    assert.equal(at.kernel.get(Producers).channels('P'), undefined);
  });

  it('scan for silent clients by themselves', async () => {
    using dir = tempDir();
    await using at = await boot(dir.path, { clientExpiryMs: 100, expiryScanIntervalMs: 10 });
    const connection = at.connections.connect();
    await at.router.call(34, { body, connection });
    await until(() => connection.closed, 'the silent client was thrown out');
    assert.equal(at.kernel.get(Consumers).group('G'), undefined);
  });

  it('have everything on disk after a stop, and the next start finds it', async () => {
    using dir = tempDir();
    const first = await boot(dir.path);
    await first.router.call(34, { body });
    await first.router.call(15, { ext: { consumerGroup: 'G', topic: 'T', queueId: '0', commitOffset: '7' } });
    await first.kernel.stop('test');
    for (const name of ['topics.json', 'subscriptionGroup.json', 'consumerOffset.json']) {
      assert.match(readFileSync(join(dir.path, 'config', name), 'utf8'), /"(%RETRY%)?(T@)?G"/, name);
    }
    await using second = await boot(dir.path);
    assert.ok(second.kernel.get(Topics).get('%RETRY%G'));
    assert.ok(second.kernel.get(SubscriptionGroups).all().get('G'));
    const reply = await second.router.call(14, { ext: { consumerGroup: 'G', topic: 'T', queueId: '0' } });
    assert.equal(reply.ext?.['offset'], '7');
  });
});
