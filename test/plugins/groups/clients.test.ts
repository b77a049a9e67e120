import assert from 'node:assert/strict';
import {
  decodeConsumerConnection,
  decodeProducerConnection,
  decodeProducerTableInfo,
} from '../../../protocol/bodies/consumer-connection.js';
import { decodeConsumerList } from '../../../protocol/bodies/consumer-list.js';
import { bodyOf, type FakeConnection } from '../../support/fake-connection.js';
import { consumerOf, subscriptionTo } from '../../support/send-pull.js';
import { until } from '../../support/until.js';
import { heartbeat, nextTurn, setUp, type SetUp } from './set-up.js';

const G = [consumerOf('G', [subscriptionTo('T')])];

async function listed({ router }: SetUp, group = 'G'): Promise<string[]> {
  const reply = await router.call(38, { ext: { consumerGroup: group } });
  return reply.code === 0 ? [...decodeConsumerList(bodyOf(reply)).consumerIdList] : [];
}

/** Takes the groups a connection was told about since the last call. */
async function told(connection: FakeConnection): Promise<string[]> {
  await nextTurn();
  return connection.notified.splice(0).map(({ code, ext }) => `${code}:${ext['consumerGroup']}`);
}

describe('plugins/groups: HEART_BEAT (34)', () => {
  it('registers consumers and producers and makes the retry topic with the settings of the group', async () => {
    const at = setUp();
    const group = at.groups.find('G') ?? assert.fail();
    await at.groups.put({ ...group, retryQueueNums: 3 });
    const connection = at.connections.connect();
    assert.equal((await heartbeat(at, connection, 'c1', G, ['P'])).code, 0);
    assert.deepEqual(await listed(at), ['c1']);
    assert.deepEqual(at.consumers.subscription('G', 'T'), subscriptionTo('T'));
    assert.deepEqual(at.consumers.groupsOfTopic('T'), ['G']);
    assert.deepEqual([...(at.producers.channels('P')?.keys() ?? [])], ['c1']);
    const retry = at.topics.get('%RETRY%G') ?? assert.fail();
    assert.deepEqual([retry.readQueueNums, retry.writeQueueNums, retry.perm, retry.topicSysFlag], [3, 3, 6, 0]);
    await heartbeat(at, connection, 'c1', [consumerOf('U', [], { unitMode: true })]);
    assert.equal(at.topics.get('%RETRY%U')?.topicSysFlag, 2);
  });

  it('lists a consumer of a group that may not exist, without a retry topic', async () => {
    const at = setUp({ autoCreateSubscriptionGroup: false });
    assert.equal((await heartbeat(at, at.connections.connect(), 'c1', G)).code, 0);
    assert.deepEqual(await listed(at), ['c1']);
    assert.equal(at.topics.get('%RETRY%G'), undefined);
  });

  it('B32: refuses bad group names as a whole', async () => {
    for (const name of ['../../../../tmp/x', 'g/h', 'x'.repeat(121), 'x'.repeat(256), '']) {
      const at = setUp();
      const reply = await heartbeat(at, at.connections.connect(), 'c1', [...G, consumerOf(name, [])], ['P']);
      assert.deepEqual([reply.code, reply.remark?.includes('groupName')], [1, true], name);
      assert.deepEqual([[...at.consumers.all()], [...at.producers.all()]], [[], []]);
      assert.equal(at.groups.all().has('G'), false);
      assert.deepEqual(
        [...at.topics.all().keys()].filter((topic) => topic.startsWith('%')),
        [],
      );
    }
  });

  it('refuses bodies that are none, an empty client id, and too many groups on one connection', async () => {
    const at = setUp({ autoCreatedGroupsMax: 100_000 });
    const connection = at.connections.connect();
    for (const body of ['', '[]', '{}', '{"clientID":{}}', '{"clientID":"c","consumerDataSet":[{"groupName":"G"}]}']) {
      assert.equal((await at.router.call(34, { body: Buffer.from(body), connection })).code, 1, body);
    }
    assert.match((await heartbeat(at, connection, '', G)).remark ?? '', /clientID/);
    const names = (from: number, count: number): string[] => Array.from({ length: count }, (_, i) => `P${from + i}`);
    assert.equal((await heartbeat(at, connection, 'c1', [], names(0, 4096))).code, 0);
    assert.equal((await heartbeat(at, connection, 'c1', [], names(0, 4096))).code, 0);
    assert.match((await heartbeat(at, connection, 'c1', [], names(9000, 1))).remark ?? '', /producerDataSet/);
    assert.equal([...at.producers.all()].length, 4096);
  });

  it('of a connection that closed meanwhile leaves nothing behind', async () => {
    const at = setUp();
    const connection = at.connections.connect();
    connection.close('gone');
    await heartbeat(at, connection, 'c1', G, ['P']);
    assert.deepEqual([[...at.consumers.all()], [...at.producers.all()]], [[], []]);
  });
});

describe('plugins/groups: NOTIFY_CONSUMER_IDS_CHANGED (40)', () => {
  it('tells every member when one joins, leaves, closes or changes its topics, and is silent otherwise', async () => {
    const at = setUp();
    const [c1, c2] = [at.connections.connect(), at.connections.connect()];
    await heartbeat(at, c1, 'c1', G);
    assert.deepEqual(await told(c1), ['40:G']);
    await heartbeat(at, c1, 'c1', G);
    assert.deepEqual(await told(c1), []);
    await heartbeat(at, c2, 'c2', G);
    assert.deepEqual([await told(c1), await told(c2)], [['40:G'], ['40:G']]);
    await heartbeat(at, c2, 'c2', [consumerOf('G', [subscriptionTo('T'), subscriptionTo('T2')])]);
    assert.deepEqual([await told(c1), await told(c2)], [['40:G'], ['40:G']]);
    await at.router.call(35, { ext: { clientID: 'c2', consumerGroup: 'G' }, connection: c2 });
    assert.deepEqual([await told(c1), await told(c2)], [['40:G'], []]);
    await heartbeat(at, c2, 'c2', G);
    await told(c1);
    c2.close('test');
    assert.deepEqual(await told(c1), ['40:G']);
  });

  it('goes out once per turn however many join', async () => {
    const at = setUp();
    const first = at.connections.connect();
    await heartbeat(at, first, 'c0', G);
    await told(first);
    await Promise.all(Array.from({ length: 20 }, (_, i) => heartbeat(at, at.connections.connect(), `c${i + 1}`, G)));
    assert.deepEqual(await told(first), ['40:G']);
  });

  it('tells a large group once for all who join while it rests, and nobody is left out', async () => {
    const at = setUp();
    const join = (from: number, count: number): Promise<FakeConnection[]> =>
      Promise.all(
        Array.from({ length: count }, async (_, i) => {
          const connection = at.connections.connect();
          await heartbeat(at, connection, `c${from + i}`, G);
          return connection;
        }),
      );
    const members = await join(0, 200);
    await nextTurn();
    assert.equal(members[0]?.notified.length, 1);
    for (let n = 200; n < 210; n++) {
      members.push(...(await join(n, 1)));
      await nextTurn();
    }
    const last = members.at(-1) ?? assert.fail();
    assert.equal(last.notified.length, 0);
    at.clock.advance(40);
    await until(() => last.notified.length > 0, 'those that joined late are told', 5000);
    assert.deepEqual([...new Set(members.slice(0, 200).map(({ notified }) => notified.length))], [2]);
    assert.deepEqual([...new Set(members.slice(200).map(({ notified }) => notified.length))], [1]);
  });

  it('is switched off by the broker for all and by a group for itself', async () => {
    const off = setUp({ notifyConsumerIdsChangedEnable: false });
    const connection = off.connections.connect();
    await heartbeat(off, connection, 'c1', G);
    assert.deepEqual(await told(connection), []);

    const at = setUp();
    await at.groups.put({ ...(at.groups.find('G') ?? assert.fail()), notifyConsumerIdsChangedEnable: false });
    const other = at.connections.connect();
    await heartbeat(at, other, 'c1', G);
    assert.deepEqual(await told(other), []);
  });
});

describe('plugins/groups: who is connected', () => {
  it('B39: closing an old connection does not remove the client id that came back on a new one', async () => {
    const at = setUp();
    const [c1, c2] = [at.connections.connect(), at.connections.connect()];
    await heartbeat(at, c1, 'X', G, ['P']);
    await heartbeat(at, c2, 'X', G, ['P']);
    assert.equal(at.consumers.group('G')?.channels.get('X')?.connection, c2);
    const warning = at.logger.lines.find(({ level }) => level === 'warn');
    assert.deepEqual([warning?.fields['client'], warning?.fields['other']], [c2.remote, c1.remote]);
    c1.close('test');
    assert.deepEqual(await listed(at), ['X']);
    assert.equal(at.producers.channels('P')?.get('X')?.connection, c2);
    c2.close('test');
    assert.deepEqual(await listed(at), []);
    assert.equal(at.producers.channels('P'), undefined);
  });

  it('B39: a doubled client id stays reachable over the older connection when the newer one ends', async () => {
    const at = setUp();
    const [c1, c2] = [at.connections.connect(), at.connections.connect()];
    await heartbeat(at, c1, 'X', G);
    await heartbeat(at, c2, 'X', G);
    await heartbeat(at, c1, 'X', G);
    assert.equal(at.consumers.group('G')?.channels.get('X')?.connection, c2);
    const shown = decodeConsumerConnection(bodyOf(await at.router.call(203, { ext: { consumerGroup: 'G' } })));
    assert.deepEqual(
      shown.connectionSet.map(({ clientAddr }) => clientAddr),
      [c1.remote, c2.remote],
    );
    c2.close('test');
    assert.equal(at.consumers.group('G')?.channels.get('X')?.connection, c1);
  });

  it('UNREGISTER_CLIENT (35) touches the named groups of that connection only', async () => {
    const at = setUp();
    const [c1, c2] = [at.connections.connect(), at.connections.connect()];
    const both = [...G, consumerOf('H', [subscriptionTo('T')])];
    await heartbeat(at, c1, 'c1', both, ['P', 'Q']);
    await heartbeat(at, c2, 'c2', both, ['P']);
    const ext = { clientID: 'c1', producerGroup: 'P', consumerGroup: 'G' };
    assert.equal((await at.router.call(35, { ext, connection: c1 })).code, 0);
    assert.deepEqual([await listed(at), await listed(at, 'H')], [['c2'], ['c1', 'c2']]);
    assert.deepEqual([...(at.producers.channels('P')?.keys() ?? [])], ['c2']);
    assert.deepEqual([...(at.producers.channels('Q')?.keys() ?? [])], ['c1']);
  });

  it('expires clients by the monotonic clock alone (B40), closes their connections and tells those that stay', async () => {
    const at = setUp();
    const [silent, alive] = [at.connections.connect(), at.connections.connect()];
    await heartbeat(at, silent, 'silent', G, ['P']);
    await heartbeat(at, alive, 'alive', G, ['P']);
    const scan = (): void => {
      at.producers.expire();
      at.consumers.expire();
    };
    at.clock.stepWall(24 * 3_600_000);
    scan();
    assert.deepEqual(await listed(at), ['silent', 'alive']);
    at.clock.advance(60_000);
    await heartbeat(at, alive, 'alive', G, ['P']);
    at.clock.advance(60_000);
    scan();
    assert.deepEqual(await listed(at), ['silent', 'alive'], 'exactly 120 s are not over it');
    await told(alive);
    at.clock.advance(1);
    scan();
    assert.deepEqual(await listed(at), ['alive']);
    assert.deepEqual([...(at.producers.channels('P')?.keys() ?? [])], ['alive']);
    assert.deepEqual([silent.closed, alive.closed], [true, false]);
    assert.deepEqual(await told(alive), ['40:G']);
  });

  it('GET_CONSUMER_LIST_BY_GROUP (38) of an unknown group is an error', async () => {
    const at = setUp();
    const reply = await at.router.call(38, { ext: { consumerGroup: 'G' } });
    assert.deepEqual([reply.code, reply.remark], [1, 'no consumer for this group, G']);
  });

  it('shows connections of consumers (203) and producers (204, 328)', async () => {
    const at = setUp();
    const connection = at.connections.connect();
    at.clock.advance(500);
    await heartbeat(at, connection, 'c1', G, ['P']);
    at.clock.advance(250);
    const consumers = decodeConsumerConnection(bodyOf(await at.router.call(203, { ext: { consumerGroup: 'G' } })));
    const shown = { clientId: 'c1', clientAddr: connection.remote, language: 0, version: 407 };
    assert.deepEqual(consumers.connectionSet, [shown]);
    assert.deepEqual([...consumers.subscriptionTable.keys()], ['T']);
    assert.deepEqual([consumers.consumeType, consumers.messageModel], ['CONSUME_PASSIVELY', 'CLUSTERING']);
    const producers = decodeProducerConnection(bodyOf(await at.router.call(204, { ext: { producerGroup: 'P' } })));
    assert.deepEqual(producers.connectionSet, [shown]);
    const all = decodeProducerTableInfo(bodyOf(await at.router.call(328)));
    const lastUpdateTimestamp = at.clock.wallMs() - 250;
    const info = { clientId: 'c1', remoteIP: `/${connection.remote}`, language: 0, version: 407, lastUpdateTimestamp };
    assert.deepEqual(all.data, new Map([['P', [info]]]));
    const none = await at.router.call(203, { ext: { consumerGroup: 'X' } });
    assert.deepEqual([none.code, none.remark], [206, 'the consumer group[X] not online']);
    const noProducer = await at.router.call(204, { ext: { producerGroup: 'X' } });
    assert.deepEqual([noProducer.code, noProducer.remark], [1, 'the producer group[X] not exist']);
  });
});
