import assert from 'node:assert/strict';
import { encodeCheckClientRequestBody } from '../../../protocol/bodies/check-client.js';
import type { SubscriptionData } from '../../../protocol/bodies/heartbeat.js';
import { consumerOf, subscriptionTo } from '../../support/send-pull.js';
import { heartbeat, setUp, type SetUp } from './set-up.js';

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

  it('topics come and go with the last heartbeat, as in 4.9', async () => {
    const s = setUp();
    const c1 = s.connections.connect();
    await heartbeat(s, c1, 'c1', [consumerOf('G', [subscriptionTo('T'), subscriptionTo('%RETRY%G')])]);
    await heartbeat(s, c1, 'c1', [consumerOf('G', [subscriptionTo('T2')])]);
    assert.deepEqual([...(s.consumers.group('G')?.subscriptions.keys() ?? [])], ['T2']);
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
