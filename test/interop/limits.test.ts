import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import { createTopic, driver, failure, mqadmin, unique } from './support/suite.js';
import { startTarget, type Target } from './support/target.js';

describe('a broker with autoCreateTopicEnable=false and no SQL92', () => {
  let served: Target;
  before(async () => {
    served = await startTarget({ options: { autoCreateTopicEnable: false, enablePropertyFilter: false } });
  });
  after(() => served.stop());

  it('answers 17 for an unknown topic and does not make it', async () => {
    const producer = await (await driver()).producer(served.namesrv);
    const known = unique('known');
    const [queue] = await createTopic(served, known, 1);
    await producer.send({ topic: known, body: 'so that the client knows the broker' }, queue);
    const topic = unique('unknown');
    const error = await failure(producer.send({ topic, body: 'x' }, { topic, brokerName: 'broker-a', queueId: 0 }));
    assert.deepEqual([error.type, error.code], ['MQBrokerException', 17]);
    assert.match(error.text, new RegExp(`topic\\[${topic}\\] not exist, apply first please!`));
    assert.ok(!(await mqadmin(served, 'topicList')).includes(topic));
    await producer.close();
  });

  it('lets the client find no route for an unknown topic', async () => {
    const producer = await (await driver()).producer(served.namesrv);
    const error = await failure(producer.send({ topic: unique('unrouted'), body: 'x' }));
    assert.deepEqual([error.type, error.code], ['MQClientException', 10005]);
    assert.match(error.text, /No route info of this topic/);
    await producer.close();
  });

  it('refuses a consumer with an SQL92 expression', async () => {
    const topic = unique('no_sql');
    await createTopic(served, topic, 1);
    const expression = { type: 'SQL92', text: 'a > 1' } as const;
    const request = { namesrv: served.namesrv, group: unique('group'), topic, expression };
    const error = await failure((await driver()).pushConsumer(request));
    assert.deepEqual([error.type, error.code], ['MQClientException', 1]);
    assert.match(error.text, /The broker does not support consumer to filter message by SQL92/);
  });
});
