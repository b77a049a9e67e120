import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SubscriptionGroups } from '../../../plugins/groups/contract.js';
import { Offsets } from '../../../plugins/offsets/contract.js';
import { Topics } from '../../../plugins/topics/contract.js';
import {
  defaultSubscriptionGroup,
  encodeSubscriptionGroupConfig,
} from '../../../protocol/bodies/subscription-group.js';
import { RequestCode } from '../../../protocol/codes.js';
import type { RawClient } from '../../support/raw-client.js';
import { heartbeat, pull, pullAll, send, subscriptionTo } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker } from '../../support/test-broker.js';

const bad = [
  '../../../../tmp/x',
  'g/h',
  'g\\h',
  'g.h',
  '组',
  'g h',
  'g\u0000h',
  'x'.repeat(121),
  'x'.repeat(256),
  '  ',
];

/** Every request that takes a group from outside and could keep it; the codes that each answers. */
const doors: readonly [what: string, ask: (client: RawClient, group: string) => Promise<{ code: number }>][] = [
  ['HEART_BEAT', (client, group) => heartbeat(client, group, [subscriptionTo('T')])],
  [
    'UPDATE_CONSUMER_OFFSET',
    (client, consumerGroup) =>
      client.ask(RequestCode.UPDATE_CONSUMER_OFFSET, {
        ext: { consumerGroup, topic: 'T', queueId: '0', commitOffset: '1' },
      }),
  ],
  [
    'UPDATE_AND_CREATE_SUBSCRIPTIONGROUP',
    (client, group) =>
      client.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {
        body: encodeSubscriptionGroupConfig(defaultSubscriptionGroup(group)),
      }),
  ],
  [
    'CONSUMER_SEND_MSG_BACK',
    (client, group) =>
      client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, {
        ext: { group, offset: '0', delayLevel: '0', originTopic: 'T' },
      }),
  ],
  [
    'CLONE_GROUP_OFFSET',
    (client, destGroup) =>
      client.ask(RequestCode.CLONE_GROUP_OFFSET, { ext: { srcGroup: 'Good', destGroup, topic: 'T', offline: 'true' } }),
  ],
  // Its sysFlag also commits an offset: 1.
  ['PULL_MESSAGE', (client, consumerGroup) => pull(client, { consumerGroup, sysFlag: 1 | 4, commitOffset: 1 })],
];

describe('B32: names of groups', () => {
  it('that could not become a folder are refused wherever they come from, and leave nothing anywhere', async () => {
    using dir = tempDir();
    const root = join(dir.path, 'deep', 'store');
    mkdirSync(root, { recursive: true });
    await using broker = await testBroker({ options: { storePathRootDir: root, mappedFileSizeCommitLog: 1 << 20 } });
    using client = await broker.connect();
    await send(client);
    await pullAll(client, 1);
    broker.get(Offsets).commit('test', 'Good', 'T', 0, 1);
    broker.get(SubscriptionGroups).find('Good');
    const known = (): unknown => [
      [...broker.get(Topics).all().keys()],
      [...broker.get(SubscriptionGroups).all().keys()],
      broker.get(Offsets).groupsOf('T'),
      readdirSync(dir.path),
      readdirSync(join(dir.path, 'deep')),
      readdirSync(join(root, 'consumequeue')),
    ];
    const before = known();
    for (const [what, ask] of doors)
      for (const group of bad) assert.notEqual((await ask(client, group)).code, 0, `${what} ${JSON.stringify(group)}`);
    assert.deepEqual(known(), before);
  });

  it('may have 120 characters, so that their retry topic has 127', async () => {
    await using broker = await testBroker();
    using client = await broker.connect();
    await send(client);
    await pullAll(client, 1);
    broker.get(Offsets).commit('test', 'Good', 'T', 0, 1);
    const group = 'x'.repeat(120);
    for (const [what, ask] of doors) {
      const { code } = await ask(client, group);
      assert.equal(code, 0, what);
    }
    assert.ok(broker.get(Topics).get(`%RETRY%${group}`));
  });
});
