import assert from 'node:assert/strict';
import { decodeLockBatchResponseBody, encodeLockBatchRequestBody } from '../../../protocol/bodies/lock-batch.js';
import { RequestCode, ResponseCode } from '../../../protocol/codes.js';
import { FakeConnection } from '../../support/fake-connection.js';
import { bodyOf } from '../../support/fake-connection.js';
import { consumerOf, subscriptionTo } from '../../support/send-pull.js';
import { heartbeat, nextTurn, setUp } from './set-up.js';

const queue = (queueId: number) => ({ topic: 'T', brokerName: 'b', queueId });

describe('queue locks (LOCK_BATCH_MQ 41, UNLOCK_BATCH_MQ 42)', () => {
  const made = (changes: Parameters<typeof setUp>[0] = {}) => {
    const at = setUp(changes);
    const ask = (code: number, clientId: string, ids: number[], consumerGroup = 'G') =>
      at.router.call(code, { body: encodeLockBatchRequestBody({ consumerGroup, clientId, mqSet: ids.map(queue) }) });
    const lock = async (client: string, ids: number[], group?: string): Promise<number[]> => {
      const reply = await ask(RequestCode.LOCK_BATCH_MQ, client, ids, group);
      return decodeLockBatchResponseBody(bodyOf(reply)).lockOKMQSet.map(({ queueId }) => queueId);
    };
    const join = async (clientId: string, group = 'G'): Promise<FakeConnection> => {
      const connection = new FakeConnection();
      await heartbeat(at, connection, clientId, [consumerOf(group, [subscriptionTo('T')])]);
      await nextTurn();
      return connection;
    };
    /** Notifications since the last call. */
    const told = async (connection: FakeConnection): Promise<number> => {
      await nextTurn();
      return connection.notified.splice(0).filter(({ code }) => code === RequestCode.NOTIFY_CONSUMER_IDS_CHANGED)
        .length;
    };
    return { ...at, ask, lock, join, told };
  };

  it('belong to one member of a group, and to each group by itself', async () => {
    const { lock } = made();
    assert.deepEqual(await lock('a', [0, 1]), [0, 1]);
    assert.deepEqual(await lock('b', [1, 2]), [2]);
    assert.deepEqual(await lock('a', [0, 1]), [0, 1]);
    assert.deepEqual(await lock('b', [1], 'H'), [1]);
  });

  it('are handed over when their owner unlocks them, and by nobody else', async () => {
    const at = made();
    await at.lock('a', [0]);
    await at.ask(RequestCode.UNLOCK_BATCH_MQ, 'b', [0]);
    assert.deepEqual(await at.lock('b', [0]), []);
    await at.ask(RequestCode.UNLOCK_BATCH_MQ, 'a', [0]);
    assert.deepEqual(await at.lock('b', [0]), [0]);
  });

  it('end 60 s after the last renewal, by the monotonic clock', async () => {
    const { lock, clock, locks } = made();
    await lock('a', [0, 1]);
    clock.advance(50_000);
    await lock('a', [0]);
    clock.advance(20_000);
    locks.expire();
    assert.deepEqual(await lock('b', [0, 1]), [1]);
    clock.advance(61_000);
    assert.deepEqual(await lock('b', [0]), [0]);
  });

  it('end when their owner leaves the group, not when its connection is lost', async () => {
    const at = made();
    const [a, b] = [await at.join('a'), await at.join('b')];
    await at.lock('a', [0]);
    await at.lock('b', [1]);
    at.connections.closed(a);
    assert.deepEqual(await at.lock('c', [0, 1]), []);
    const ext = { clientID: 'b', consumerGroup: 'G' };
    await at.router.call(RequestCode.UNREGISTER_CLIENT, { ext, connection: b });
    assert.deepEqual(await at.lock('c', [0, 1]), [1]);
  });

  it('stay when one of two connections of their owner leaves', async () => {
    const at = made();
    const [old] = [await at.join('a'), await at.join('a')];
    await at.lock('a', [0]);
    const ext = { clientID: 'a', consumerGroup: 'G' };
    await at.router.call(RequestCode.UNREGISTER_CLIENT, { ext, connection: old! });
    assert.deepEqual(await at.lock('b', [0]), []);
  });

  it('tell who was refused, and nobody else, when they are unlocked', async () => {
    const at = made();
    const members = [await at.join('a'), await at.join('b'), await at.join('c')];
    const heard = () => Promise.all(members.map((member) => at.told(member)));
    await heard();
    await at.lock('a', [0, 1]);
    await at.lock('b', [0, 1]);
    await at.ask(RequestCode.UNLOCK_BATCH_MQ, 'a', [0, 1]);
    assert.deepEqual(await heard(), [0, 1, 0]);
    await at.lock('b', [0]);
    await at.ask(RequestCode.UNLOCK_BATCH_MQ, 'b', [0]);
    assert.deepEqual(await heard(), [0, 0, 0], 'nobody wanted it');
  });

  it('tell who was refused when they expire', async () => {
    const at = made({ queueLockExpiryMs: 1000 });
    const b = await at.join('b');
    await at.told(b);
    await at.lock('a', [0]);
    await at.lock('b', [0]);
    at.clock.advance(1001);
    at.locks.expire();
    assert.equal(await at.told(b), 1);
  });

  it('tell nobody when notifications are off', async () => {
    const at = made({ notifyConsumerIdsChangedEnable: false });
    const b = await at.join('b');
    await at.lock('a', [0]);
    await at.lock('b', [0]);
    await at.ask(RequestCode.UNLOCK_BATCH_MQ, 'a', [0]);
    assert.equal(await at.told(b), 0);
  });

  it('refuse a group that could not be one (B32), and names without a bound', async () => {
    const at = made();
    const { code } = await at.ask(RequestCode.LOCK_BATCH_MQ, 'a', [0], '../x');
    assert.equal(code, ResponseCode.SYSTEM_ERROR);
    const long = await at.ask(RequestCode.LOCK_BATCH_MQ, 'a'.repeat(513), [0]);
    assert.equal(long.code, ResponseCode.SYSTEM_ERROR);
    assert.match(long.remark ?? '', /clientId/);
  });
});
