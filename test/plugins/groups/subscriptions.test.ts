import assert from 'node:assert/strict';
import { encodeCheckClientRequestBody } from '../../../protocol/bodies/check-client.js';
import { decodeConsumerConnection } from '../../../protocol/bodies/consumer-connection.js';
import type { SubscriptionData } from '../../../protocol/bodies/heartbeat.js';
import { bodyOf } from '../../support/fake-connection.js';
import { consumerOf, subscriptionTo } from '../../support/send-pull.js';
import { heartbeat, nextTurn, setUp, type SetUp } from './set-up.js';

const inForce = ({ consumers }: SetUp, topic = 'T'): string | undefined =>
  consumers.subscription('G', topic)?.subString;

describe('plugins/groups: subscriptions', () => {
  const at = (tag: string, subVersion: number): SubscriptionData => subscriptionTo('T', { subString: tag, subVersion });

  it('a larger version replaces, a smaller one with the same filter changes nothing', async () => {
    const s = setUp();
    const c1 = s.connections.connect();
    await heartbeat(s, c1, 'c1', [consumerOf('G', [at('A', 10)])]);
    await heartbeat(s, c1, 'c1', [consumerOf('G', [at('B', 11)])]);
    assert.equal(inForce(s), 'B');
    await heartbeat(s, c1, 'c1', [consumerOf('G', [at('B', 5)])]);
    assert.equal(s.consumers.subscription('G', 'T')?.subVersion, 11);
  });

  it('B40a: a live client that changes its filter after its clock went back is heard within one heartbeat', async () => {
    const s = setUp();
    const [c1, c2] = [s.connections.connect(), s.connections.connect()];
    await heartbeat(s, c1, 'c1', [consumerOf('G', [at('A', 3_600_000)])]);
    await heartbeat(s, c2, 'c2', [consumerOf('G', [at('A', 3_600_000)])]);
    await heartbeat(s, c1, 'c1', [consumerOf('G', [at('B', 5)])]);
    assert.equal(inForce(s), 'B');
  });

  it('B40a: a filter that no live client stands for any more gives way', async () => {
    const s = setUp();
    const [old, young] = [s.connections.connect(), s.connections.connect()];
    await heartbeat(s, old, 'old', [consumerOf('G', [at('A', 3_600_000)])]);
    await heartbeat(s, young, 'young', [consumerOf('G', [at('B', 5)])]);
    assert.equal(inForce(s), 'A', 'while both live, the larger version holds');
    old.close('deployed away');
    await heartbeat(s, young, 'young', [consumerOf('G', [at('B', 5)])]);
    assert.equal(inForce(s), 'B');
  });

  it('two clients that disagree for good do not take turns', async () => {
    const s = setUp();
    const [c1, c2] = [s.connections.connect(), s.connections.connect()];
    for (let round = 0; round < 5; round++) {
      await heartbeat(s, c1, 'c1', [consumerOf('G', [at('A', 10)])]);
      await heartbeat(s, c2, 'c2', [consumerOf('G', [at('B', 20)])]);
      assert.equal(inForce(s), 'B', `round ${round}`);
    }
    await heartbeat(s, c1, 'c1', [consumerOf('G', [at('A', 10)])]);
    assert.equal(inForce(s), 'B');
  });

  it('the order of tags is no change', async () => {
    const s = setUp();
    const c1 = s.connections.connect();
    const tags = (tagsSet: string[], subVersion: number): SubscriptionData => {
      return subscriptionTo('T', { subString: 'A || B', tagsSet, codeSet: [65, 66], subVersion });
    };
    await heartbeat(s, c1, 'c1', [consumerOf('G', [tags(['A', 'B'], 10)])]);
    const before = s.consumers.subscription('G', 'T');
    await heartbeat(s, c1, 'c1', [consumerOf('G', [tags(['B', 'A'], 9)])]);
    assert.equal(s.consumers.subscription('G', 'T'), before);
  });

  const topicsOf = ({ consumers }: SetUp): string[] => [...(consumers.group('G')?.subscriptions.keys() ?? [])].sort();

  it('topics come and go with the heartbeat of the only member', async () => {
    const s = setUp();
    const c1 = s.connections.connect();
    await heartbeat(s, c1, 'c1', [consumerOf('G', [subscriptionTo('T'), subscriptionTo('%RETRY%G')])]);
    await heartbeat(s, c1, 'c1', [consumerOf('G', [subscriptionTo('T2')])]);
    assert.deepEqual(topicsOf(s), ['T2']);
  });

  it('a topic stays while any member names it, also when members disagree, and is logged once', async () => {
    const s = setUp();
    const [c1, c2, c3] = [s.connections.connect(), s.connections.connect(), s.connections.connect()];
    const changes = (): number => s.logger.lines.filter(({ message }) => message === 'subscriptions changed').length;
    for (let round = 0; round < 3; round++) {
      await heartbeat(s, c1, 'c1', [consumerOf('G', [subscriptionTo('T1'), subscriptionTo('Both')])]);
      await heartbeat(s, c2, 'c2', [consumerOf('G', [subscriptionTo('T2'), subscriptionTo('Both')])]);
      assert.deepEqual(topicsOf(s), ['Both', 'T1', 'T2'], `round ${round}`);
    }
    assert.equal(changes(), 2);
    await nextTurn();
    c1.notified.length = 0;
    await heartbeat(s, c2, 'c2', [consumerOf('G', [subscriptionTo('T2'), subscriptionTo('Both')])]);
    await nextTurn();
    assert.deepEqual(c1.notified, [], 'nobody is told of what did not change');
    await heartbeat(s, c3, 'c3', [consumerOf('G', [subscriptionTo('T1'), subscriptionTo('T1')])]);
    c1.close('gone');
    assert.deepEqual(topicsOf(s), ['Both', 'T1', 'T2']);
    await heartbeat(s, c3, 'c3', [consumerOf('G', [subscriptionTo('Both')])]);
    assert.deepEqual(topicsOf(s), ['Both', 'T2']);
    await heartbeat(s, c2, 'other id', [consumerOf('G', [subscriptionTo('T3')])]);
    assert.deepEqual(topicsOf(s), ['Both', 'T3']);
  });
});

describe('plugins/groups: members that consume differently', () => {
  const shown = async (s: SetUp): Promise<string[]> => {
    const { messageModel, consumeFromWhere } = decodeConsumerConnection(
      bodyOf(await s.router.call(203, { ext: { consumerGroup: 'G' } })),
    );
    return [messageModel, consumeFromWhere];
  };
  const logged = ({ logger }: SetUp): number =>
    logger.lines.filter(({ message }) => message.startsWith('consumer group changed how it consumes')).length;
  const queued = consumerOf('G', [subscriptionTo('T')]);
  const broadcast = { ...queued, messageModel: 'BROADCASTING' as const };
  const fromFirst = { ...queued, consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET' };

  it('the one that joined or changed last decides; one line for each change, however often heartbeats repeat it', async () => {
    const s = setUp();
    const [c1, c2] = [s.connections.connect(), s.connections.connect()];
    for (let round = 0; round < 3; round++) {
      await heartbeat(s, c1, 'c1', [queued]);
      await heartbeat(s, c2, 'c2', [broadcast]);
      assert.deepEqual(await shown(s), ['BROADCASTING', queued.consumeFromWhere], `round ${round}`);
    }
    assert.equal(logged(s), 1);
    await heartbeat(s, c1, 'c1', [fromFirst]);
    assert.deepEqual(await shown(s), ['CLUSTERING', 'CONSUME_FROM_FIRST_OFFSET']);
    assert.equal(logged(s), 2);
  });

  it('one that leaves takes its habits along', async () => {
    const s = setUp();
    const [c1, c2] = [s.connections.connect(), s.connections.connect()];
    await heartbeat(s, c1, 'c1', [queued]);
    await heartbeat(s, c2, 'c2', [broadcast]);
    c2.close('gone');
    assert.deepEqual(await shown(s), ['CLUSTERING', queued.consumeFromWhere]);
    assert.equal(logged(s), 2);
  });
});

describe('plugins/groups: CHECK_CLIENT_CONFIG (46)', () => {
  const check = async (s: SetUp, expressionType: string, subString: string) => {
    const subscriptionData = subscriptionTo('T', { subString, expressionType });
    const body = encodeCheckClientRequestBody({ clientId: 'c1', group: 'G', subscriptionData });
    const { code, remark } = await s.router.call(46, { body });
    return [code, remark ?? ''];
  };
  const unsupported = (type: string) => [1, `The broker does not support consumer to filter message by ${type}`];

  it('accepts tags always', async () => {
    const s = setUp();
    assert.deepEqual(await check(s, 'TAG', 'A || B'), [0, '']);
    assert.deepEqual(await check(s, '', '*'), [0, '']);
    assert.equal((await s.router.call(46, { body: Buffer.from('{"clientId":"c","group":"G"}') })).code, 0);
  });

  it('refuses types with 1 when there is no plugin for them', async () => {
    assert.deepEqual(await check(setUp(), 'REGEX', 'a'), unsupported('REGEX'));
  });

  it('compiles, and refuses what does not compile with 23', async () => {
    const s = setUp();
    assert.deepEqual(await check(s, 'SQL92', 'a > 5'), [0, '']);
    assert.deepEqual(await check(s, 'SQL92', 'bad'), [23, 'unexpected end at position 3']);
  });
});
