import assert from 'node:assert/strict';
import { PushConsumer, type ConsumerPeriods, type Listener, type PushConsumerOptions } from '../../client/index.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { decodePullMessage } from '../../protocol/headers/pull-message.js';
import {
  decodeQueryConsumerOffsetResponse,
  encodeQueryConsumerOffset,
} from '../../protocol/headers/query-consumer-offset.js';
import { encodeUpdateConsumerOffset } from '../../protocol/headers/update-consumer-offset.js';
import type { Scripted } from '../client/support/scripted-server.js';
import { RawClient } from '../support/raw-client.js';
import { heartbeat, pullAll, send, subscriptionTo } from '../support/send-pull.js';
import { until } from '../support/until.js';
import { chaosTest, createTopic, type Scene } from './support/scene.js';
import { ScriptedProxy } from './support/scripted-proxy.js';

const GROUP = 'G';
const RETRY_TOPIC = `%RETRY%${GROUP}`;
const LIMIT_MS = 30_000;
const periods: ConsumerPeriods = {
  heartbeatMs: 1000,
  missingRouteMs: 100,
  rebalanceMs: 200,
  persistMs: 50,
  pullErrorMs: 50,
  localRetryMs: 200,
};

describe('B13: an offset query that fails', () => {
  const answers: readonly (readonly [what: string, answer: Scripted])[] = [
    ['no answer', 'silent'],
    ['a reset', 'reset'],
    ['SYSTEM_ERROR', { code: ResponseCode.SYSTEM_ERROR }],
    ['SYSTEM_BUSY', { code: ResponseCode.SYSTEM_BUSY }],
    ['NO_PERMISSION', { code: ResponseCode.NO_PERMISSION }],
  ];
  chaosTest('starts no queue and commits nothing; the group goes on where it was', async (scene) => {
    const at = await prepared(scene, 100);
    await at.commit(50);
    for (const [what, answer] of answers) {
      at.proxy.on(RequestCode.QUERY_CONSUMER_OFFSET, answer);
      const asked = at.proxy.asked(RequestCode.QUERY_CONSUMER_OFFSET).length;
      const consumer = await at.consumer(() => 'success', { from: 'last' });
      const times = answer === 'silent' ? 1 : 3;
      const again = (): boolean => at.proxy.asked(RequestCode.QUERY_CONSUMER_OFFSET).length >= asked + times;
      await until(again, `${what}: the query is tried again`, LIMIT_MS);
      await consumer.stop();
      assert.deepEqual(at.pulls(), [], what);
      assert.equal(at.proxy.asked(RequestCode.UPDATE_CONSUMER_OFFSET).length, 0, what);
      assert.equal(await at.committed(), 50, what);
    }
    at.proxy.on(RequestCode.QUERY_CONSUMER_OFFSET, 'pass');
    const seen: number[] = [];
    await at.consumer(([message]) => (seen.push(message!.queueOffset), 'success'), { from: 'last', concurrency: 1 });
    await until(() => seen.length >= 50, 'the backlog is consumed', LIMIT_MS);
    assert.deepEqual(
      seen,
      Array.from({ length: 50 }, (_, i) => 50 + i),
    );
  });

  chaosTest(
    'QUERY_NOT_FOUND alone says that the group never consumed: it begins where it is told to',
    async (scene) => {
      const at = await prepared(scene, 20);
      await at.commit(5);
      at.proxy.on(RequestCode.QUERY_CONSUMER_OFFSET, { code: ResponseCode.QUERY_NOT_FOUND });
      await at.consumer(() => 'success', { from: 'last' });
      await until(() => at.pulls().length > 0, 'a pull', LIMIT_MS);
      assert.equal(at.pulls()[0], 20);
    },
  );
});

describe('B15: a send-back that fails', () => {
  const refused = { code: ResponseCode.SYSTEM_ERROR, remark: 'not now' };

  chaosTest('keeps the message and the offset before it: after a kill it is delivered again', async (scene) => {
    const at = await prepared(scene, 10);
    at.proxy.on(RequestCode.CONSUMER_SEND_MSG_BACK, refused).on(RequestCode.SEND_MESSAGE_V2, refused);
    const seen: string[] = [];
    const killed = await at.consumer(failsAt(5, seen), {});
    await until(() => seen.includes('5/2') && new Set(seen.map(offsetIn)).size === 10, 'tried again here', LIMIT_MS);
    const commits = at.proxy.asked(RequestCode.UPDATE_CONSUMER_OFFSET).length;
    const more = (): boolean => at.proxy.asked(RequestCode.UPDATE_CONSUMER_OFFSET).length > commits + 1;
    await until(more, 'offsets are committed', LIMIT_MS);
    assert.equal(await at.committed(), 5);
    await at.proxy.close();
    await killed.stop();

    const again: string[] = [];
    const next = await prepared(scene, 0, at.port);
    await next.consumer(
      ([message]) => (again.push(`${message!.queueOffset}/${message!.reconsumeTimes}`), 'success'),
      {},
    );
    await until(() => again.length >= 5, 'it comes again', LIMIT_MS);
    assert.deepEqual(again.sort(), ['5/0', '6/0', '7/0', '8/0', '9/0']);
  });

  chaosTest('is made up for when the broker takes it again: the retry comes, nothing is passed over', async (scene) => {
    const at = await prepared(scene, 10);
    at.proxy.on(RequestCode.CONSUMER_SEND_MSG_BACK, refused).on(RequestCode.SEND_MESSAGE_V2, refused);
    const seen: string[] = [];
    await at.consumer(failsAt(5, seen), {});
    await until(() => seen.includes('5/2'), 'tried again here', LIMIT_MS);
    at.proxy.on(RequestCode.CONSUMER_SEND_MSG_BACK, 'pass');
    await until(async () => (await at.committed()) === 10, 'the queue goes on', LIMIT_MS);
    await until(() => seen.some((one) => one.startsWith('retry/')), 'the retry comes', LIMIT_MS);
  });
});

const offsetIn = (seen: string): string => seen.slice(0, seen.indexOf('/'));

/** Refuses one message of the topic itself, and takes its retry. */
function failsAt(offset: number, seen: string[]): Listener {
  return ([message], { queue }) => {
    const retry = queue.topic === RETRY_TOPIC;
    seen.push(`${retry ? 'retry' : message!.queueOffset}/${message!.reconsumeTimes}`);
    return !retry && message!.queueOffset === offset ? 'later' : 'success';
  };
}

/** A broker whose queue 0 of topic T has so many messages, and a proxy before it. With a port: before the broker that serves there. */
async function prepared(scene: Scene, count: number, served?: number) {
  const port = served ?? (await filled(scene, count));
  const proxy = await ScriptedProxy.start(port, { T: 1, [RETRY_TOPIC]: 1 });
  const place = { consumerGroup: GROUP, topic: 'T', queueId: 0 };
  scene.later(() => proxy.close());
  return {
    port,
    proxy,
    /** Offsets at which topic T was pulled. */
    pulls: (): number[] =>
      proxy
        .asked(RequestCode.PULL_MESSAGE)
        .map(({ ext }) => decodePullMessage(ext))
        .filter(({ topic }) => topic === 'T')
        .map(({ queueOffset }) => queueOffset),
    commit: async (commitOffset: number): Promise<void> => {
      using client = await RawClient.connect(`127.0.0.1:${port}`);
      await client.ask(RequestCode.UPDATE_CONSUMER_OFFSET, {
        ext: encodeUpdateConsumerOffset({ ...place, commitOffset }),
      });
    },
    committed: async (): Promise<number> => {
      using client = await RawClient.connect(`127.0.0.1:${port}`);
      const answer = await client.ask(RequestCode.QUERY_CONSUMER_OFFSET, { ext: encodeQueryConsumerOffset(place) });
      return decodeQueryConsumerOffsetResponse(answer.ext).offset;
    },
    consumer: async (listener: Listener, options: Partial<PushConsumerOptions>): Promise<PushConsumer> => {
      const base = { namesrvAddr: proxy.namesrv, group: GROUP, from: 'first', periods } as const;
      const consumer = new PushConsumer({ ...base, ...options });
      scene.later(() => consumer.stop());
      await consumer.subscribe('T');
      // Not awaited: a start ends when the first queues were looked at, and what these tests need may come before.
      consumer.start(listener).catch((error: unknown) => assert.equal(error, undefined));
      return consumer;
    },
  };
}

async function filled(scene: Scene, count: number): Promise<number> {
  const broker = scene.broker({ messageDelayLevel: Array.from({ length: 18 }, () => '1s').join(' ') });
  await broker.start();
  await createTopic(broker.port, 'T', 1);
  using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
  await heartbeat(client, GROUP, [subscriptionTo('T')]);
  for (let i = 0; i < count; i++) {
    const { code, remark } = await send(client, { body: Buffer.from(`message ${i}`) });
    assert.equal(code, ResponseCode.SUCCESS, remark ?? '');
  }
  await pullAll(client, count, { consumerGroup: GROUP });
  return broker.port;
}
