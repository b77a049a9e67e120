import assert from 'node:assert/strict';
import { silentLogger } from '../../../kernel/base/logger.js';
import { QueueLocks } from '../../../plugins/groups/queue-locks.js';
import { decodeLockBatchResponseBody, encodeLockBatchRequestBody } from '../../../protocol/bodies/lock-batch.js';
import { RequestCode, ResponseCode } from '../../../protocol/codes.js';
import { FakeClock } from '../../support/fake-clock.js';
import { FakeRouter, bodyOf } from '../../support/fake-connection.js';

const queue = (queueId: number) => ({ topic: 'T', brokerName: 'b', queueId });

describe('queue locks (LOCK_BATCH_MQ 41, UNLOCK_BATCH_MQ 42)', () => {
  const made = () => {
    const clock = new FakeClock();
    const router = new FakeRouter();
    const locks = new QueueLocks(clock, silentLogger);
    locks.register(router);
    const ask = (code: number, clientId: string, ids: number[], consumerGroup = 'G') =>
      router.call(code, { body: encodeLockBatchRequestBody({ consumerGroup, clientId, mqSet: ids.map(queue) }) });
    const lock = async (client: string, ids: number[], group?: string): Promise<number[]> => {
      const reply = await ask(RequestCode.LOCK_BATCH_MQ, client, ids, group);
      return decodeLockBatchResponseBody(bodyOf(reply)).lockOKMQSet.map(({ queueId }) => queueId);
    };
    return { clock, locks, ask, lock };
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

  it('refuse a group that could not be one (B32)', async () => {
    const { code } = await made().ask(RequestCode.LOCK_BATCH_MQ, 'a', [0], '../x');
    assert.equal(code, ResponseCode.SYSTEM_ERROR);
  });
});
