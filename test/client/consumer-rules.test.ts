import assert from 'node:assert/strict';
import { PushConsumer, type PushConsumerOptions } from '../../client/index.js';
import { RequestCode, ResponseCode, SysFlag } from '../../protocol/codes.js';
import { decodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { parseProperties } from '../../protocol/message/properties.js';
import { until } from '../support/until.js';
import { FakeBroker } from './support/fake-broker.js';
import { quick } from './support/quick.js';
import type { Scripted } from './support/scripted-server.js';

const bodies = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `m${from + index}`);

/** Rules that clients of this field got wrong; B-numbers are those of the case list. */
describe('PushConsumer rules', () => {
  let broker: FakeBroker;
  let consumer: PushConsumer;

  async function begin(
    listener: (body: string, reconsumeTimes: number) => 'success' | 'later',
    options: Partial<PushConsumerOptions> = {},
  ): Promise<void> {
    consumer = new PushConsumer({ namesrvAddr: broker.address, group: 'G', periods: quick, ...options });
    await consumer.subscribe('T');
    await consumer.start(([message]) => listener(message!.body.toString(), message!.reconsumeTimes));
  }

  const rebalanced = (times: number): Promise<void> => {
    const before = broker.asked(RequestCode.GET_CONSUMER_LIST_BY_GROUP).length;
    return until(
      () => broker.asked(RequestCode.GET_CONSUMER_LIST_BY_GROUP).length >= before + times,
      `${times} more rebalances`,
    );
  };

  beforeEach(async () => {
    broker = await FakeBroker.start();
    broker.topics.set('T', { queues: 1 });
  });

  afterEach(async () => {
    await consumer.stop();
    await broker.close();
  });

  const failures: readonly (readonly [string, Scripted])[] = [
    ['a reset connection', 'reset'],
    ['code 1', { code: ResponseCode.SYSTEM_ERROR, remark: 'x' }],
    ['code 2', { code: ResponseCode.SYSTEM_BUSY, remark: 'x' }],
    ['code 16', { code: ResponseCode.NO_PERMISSION, remark: 'x' }],
    ['an answer without the offset', { code: ResponseCode.SUCCESS, ext: {} }],
  ];
  for (const [what, answer] of failures)
    it(`B13: ${what} to an offset query starts no queue and commits nothing`, async () => {
      broker.fill('T', 0, bodies(0, 1000));
      broker.committed.set('T@0', 500);
      const query = broker.server.script(RequestCode.QUERY_CONSUMER_OFFSET)!;
      broker.on(RequestCode.QUERY_CONSUMER_OFFSET, answer);
      const seen: string[] = [];
      await begin((body) => {
        seen.push(body);
        return 'success';
      });
      await until(() => broker.asked(RequestCode.QUERY_CONSUMER_OFFSET).length >= 3, 'the query is tried again');
      assert.equal(broker.asked(RequestCode.PULL_MESSAGE).length, 0);
      assert.equal(broker.asked(RequestCode.GET_MAX_OFFSET).length, 0);
      assert.deepEqual(broker.commits('T', 0), []);
      assert.equal(broker.committed.get('T@0'), 500);
      broker.on(RequestCode.QUERY_CONSUMER_OFFSET, query);
      await until(() => seen.length === 500, 'the backlog is consumed when the answer comes');
      assert.equal(seen[0], 'm500');
    });

  it('B13: a stop while the offset is unknown commits nothing', async () => {
    broker.fill('T', 0, bodies(0, 10));
    broker.committed.set('T@0', 5);
    broker.on(RequestCode.QUERY_CONSUMER_OFFSET, { code: ResponseCode.SYSTEM_ERROR });
    await begin(() => 'success');
    await rebalanced(2);
    await consumer.stop();
    assert.deepEqual(broker.commits('T', 0), []);
    assert.equal(broker.committed.get('T@0'), 5);
  });

  it('B13: a failing look-up of the first offset starts no queue either', async () => {
    broker.fill('T', 0, bodies(0, 10));
    broker.on(RequestCode.GET_MAX_OFFSET, { code: ResponseCode.SYSTEM_ERROR });
    await begin(() => 'success');
    await rebalanced(3);
    assert.equal(broker.asked(RequestCode.PULL_MESSAGE).length, 0);
    assert.deepEqual(broker.commits('T', 0), []);
  });

  it('B15: a message that cannot be sent back is never passed, and consumed again here', async () => {
    broker.fill('T', 0, bodies(0, 10), 'UNIQ_KEY\u0001U\u0002colour\u0001red');
    const back = broker.server.script(RequestCode.CONSUMER_SEND_MSG_BACK)!;
    broker.on(RequestCode.CONSUMER_SEND_MSG_BACK, { code: ResponseCode.SYSTEM_ERROR, remark: 'down' });
    broker.topics.set('%RETRY%G', { queues: 1 });
    broker.on(RequestCode.SEND_MESSAGE_V2, { code: ResponseCode.SYSTEM_ERROR, remark: 'down too' });
    const times: number[] = [];
    let heal = false;
    await begin(
      (body, reconsumeTimes) => {
        if (body !== 'm5') return 'success';
        times.push(reconsumeTimes);
        return heal ? 'success' : 'later';
      },
      { from: 'first' },
    );
    await until(() => times.length >= 3, 'it is retried here');
    assert.deepEqual(times.slice(0, 3), [0, 1, 2]);
    assert.equal(broker.committed.get('T@0'), 5, 'committed up to the message, although later ones are done');
    assert.ok(broker.commits('T', 0).every((offset) => offset <= 5));
    heal = true;
    broker.on(RequestCode.CONSUMER_SEND_MSG_BACK, back);
    await until(() => broker.committed.get('T@0') === 10, 'all are done');
  });

  it('B15: a stop before it was sent back leaves the message to the next start', async () => {
    broker.fill('T', 0, bodies(0, 10));
    broker.on(RequestCode.CONSUMER_SEND_MSG_BACK, 'reset');
    let tried = 0;
    await begin((body) => (body === 'm5' && ++tried > 0 ? 'later' : 'success'), { from: 'first' });
    await until(() => tried > 0 && broker.committed.get('T@0') === 5, 'it stands at the message');
    await consumer.stop();
    assert.equal(broker.committed.get('T@0'), 5);
    const seen: string[] = [];
    await begin((body) => {
      seen.push(body);
      return 'success';
    });
    await until(() => seen.length >= 5, 'delivered again');
    assert.equal(seen[0], 'm5');
  });

  it('B15: the copy to the retry topic counts as sent back, and is one', async () => {
    broker.fill('T', 0, ['x'], 'UNIQ_KEY\u0001U7\u0002colour\u0001red');
    broker.topics.set('%RETRY%G', { queues: 1 });
    broker.on(RequestCode.CONSUMER_SEND_MSG_BACK, { code: ResponseCode.SYSTEM_ERROR, remark: 'down' });
    const seen: string[] = [];
    await begin(
      (body) => {
        seen.push(body);
        return seen.length === 1 ? 'later' : 'success';
      },
      { from: 'first' },
    );
    await until(() => broker.committed.get('T@0') === 1, 'the original is done');
    const header = decodeSendMessageV2(broker.asked(RequestCode.SEND_MESSAGE_V2)[0]!.ext);
    const properties = parseProperties(header.properties!);
    assert.equal(header.topic, '%RETRY%G');
    assert.equal(header.reconsumeTimes, 1);
    assert.equal(header.maxReconsumeTimes, 16);
    assert.deepEqual(
      ['RETRY_TOPIC', 'ORIGIN_MESSAGE_ID', 'UNIQ_KEY', 'DELAY', 'colour'].map((name) => properties.get(name)),
      ['T', 'U7', 'U7', '3', 'red'],
    );
    await until(() => seen.length === 2, 'the copy was consumed');
  });

  it('B16: a backlog that is gone moves the group to what is there, and commits that', async () => {
    broker.queue('T', 0).min = 2000;
    broker.fill('T', 0, bodies(2000, 2020));
    broker.committed.set('T@0', 0);
    const seen: string[] = [];
    await begin((body) => {
      seen.push(body);
      return 'success';
    });
    await until(() => broker.committed.get('T@0') === 2020, 'the group stands at the end');
    assert.deepEqual(seen, bodies(2000, 2020));
    assert.equal(broker.commits('T', 0)[0], 2000);
  });

  it('B16: when everything is gone the group still moves', async () => {
    broker.queue('T', 0).min = 2020;
    broker.committed.set('T@0', 0);
    await begin(() => 'success');
    await until(() => broker.committed.get('T@0') === 2020, 'committed at the end');
    await until(() => broker.asked(RequestCode.PULL_MESSAGE).length >= 2, 'it pulls from there');
    assert.equal(consumer.queues.length, 1);
  });

  it('B16: the queue waits until the moved offset is committed', async () => {
    broker.queue('T', 0).min = 2000;
    broker.fill('T', 0, ['x']);
    broker.committed.set('T@0', 0);
    const update = broker.server.script(RequestCode.UPDATE_CONSUMER_OFFSET)!;
    broker.on(RequestCode.UPDATE_CONSUMER_OFFSET, { code: ResponseCode.SYSTEM_ERROR });
    const seen: string[] = [];
    await begin((body) => {
      seen.push(body);
      return 'success';
    });
    await until(() => broker.asked(RequestCode.UPDATE_CONSUMER_OFFSET).length >= 3, 'the commit is tried again');
    assert.equal(broker.asked(RequestCode.PULL_MESSAGE).length, 1);
    broker.on(RequestCode.UPDATE_CONSUMER_OFFSET, update);
    await until(() => seen.length === 1, 'consumed');
  });

  it('a body that cannot be read goes back, and is shown to no listener', async () => {
    broker.fill('T', 0, ['plain']);
    broker.fill('T', 0, ['not compressed at all'], '', SysFlag.COMPRESSED);
    broker.fill('T', 0, ['plain too']);
    const seen: string[] = [];
    await begin(
      (body) => {
        seen.push(body);
        return 'success';
      },
      { from: 'first', batchMax: 3 },
    );
    await until(() => broker.committed.get('T@0') === 3, 'the queue goes on');
    assert.deepEqual(seen, ['plain']);
    assert.equal(broker.asked(RequestCode.CONSUMER_SEND_MSG_BACK).length, 1);
  });

  it('an offset beyond the end is moved back', async () => {
    broker.fill('T', 0, bodies(0, 5));
    broker.committed.set('T@0', 900);
    await begin(() => 'success');
    await until(() => broker.committed.get('T@0') === 5, 'the group stands at the end');
  });

  it('a slave that lags moves nothing (B11)', async () => {
    broker.fill('T', 0, bodies(0, 100));
    broker.committed.set('T@0', 900);
    broker.on(RequestCode.PULL_MESSAGE, {
      code: ResponseCode.PULL_RETRY_IMMEDIATELY,
      ext: { suggestWhichBrokerId: '0', nextBeginOffset: '900', minOffset: '0', maxOffset: '100' },
    });
    await begin(() => 'success');
    await until(() => broker.asked(RequestCode.PULL_MESSAGE).length > 5, 'it pulls on');
    assert.ok(broker.commits('T', 0).every((offset) => offset === 900));
    assert.ok(broker.asked(RequestCode.PULL_MESSAGE).every(({ ext }) => ext['queueOffset'] === '900'));
  });
});
