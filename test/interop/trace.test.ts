import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import { until } from '../support/until.js';
import { arrived, createTopic, driver, patienceMs, unique } from './support/suite.js';
import { startTarget, type Target } from './support/target.js';

describe('message traces of the Java client', () => {
  let served: Target;
  before(async () => {
    served = await startTarget({ options: { traceTopicEnable: true, autoCreateTopicEnable: false } });
  });
  after(() => served.stop());

  it('go into the trace topic, and mqadmin finds there who sent and who consumed a message', async () => {
    const java = await driver();
    const topic = unique('traced');
    await createTopic(served, topic, 1);
    const group = unique('group');
    const producer = await java.tracedProducer(served.namesrv);
    const consumer = await java.pushConsumer({ namesrv: served.namesrv, group, topic, traced: true });
    const { msgId } = await producer.send({ topic, body: 'one', keys: 'k0' });
    await arrived(consumer, 1);
    let printed = '';
    const isWhole = async (): Promise<boolean> => {
      printed = (await java.mqadmin('queryMsgTraceById', '-n', served.namesrv, '-i', msgId)).out;
      return /^Pub /m.test(printed) && /^Sub /m.test(printed);
    };
    await until(isWhole, 'both traces are found by the id', patienceMs);
    assert.match(printed, /^Pub +interop_traced +\S+ +[-\d]+ [:\d]+ +\d+ms +success *$/m);
    assert.match(printed, new RegExp(`^Sub +${group} +\\S+ +[-\\d]+ [:\\d]+ +\\d+ms +success *$`, 'm'));
    await Promise.all([producer.close(), consumer.close()]);
  });
});
