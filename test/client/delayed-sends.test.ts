import assert from 'node:assert/strict';
import { ClientError, Producer, type OutgoingMessage } from '../../client/index.js';
import { RequestCode } from '../../protocol/codes.js';
import { decodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { parseProperties } from '../../protocol/message/properties.js';
import { FakeBroker } from './support/fake-broker.js';
import { quick } from './support/quick.js';

type Delay = Pick<OutgoingMessage, 'delayLevel' | 'deliverAt' | 'delayMs'>;

describe('delayed sends', () => {
  let broker: FakeBroker;
  let producer: Producer;

  beforeEach(async () => {
    broker = await FakeBroker.start();
    broker.topics.set('T', { queues: 1 });
    producer = new Producer({ namesrvAddr: broker.address, group: 'PG', periods: quick });
    await producer.start();
  });

  afterEach(async () => {
    await producer.stop();
    await broker.close();
  });

  const ofSystem = (text: string): [string, string][] =>
    [...parseProperties(text)].filter(([name]) => /^(DELAY|TIMER_.*)$/.test(name));

  const carried: readonly (readonly [Delay, [string, string][]])[] = [
    [{ delayLevel: 3 }, [['DELAY', '3']]],
    [{ delayMs: 10_000 }, [['TIMER_DELAY_MS', '10000']]],
    [{ deliverAt: 1_900_000_000_000 }, [['TIMER_DELIVER_MS', '1900000000000']]],
    [{ deliverAt: new Date('2030-03-17T17:46:40Z') }, [['TIMER_DELIVER_MS', '1900000000000']]],
    [{}, []],
  ];
  for (const [delay, properties] of carried)
    it(`${JSON.stringify(delay)} goes as ${JSON.stringify(properties)}`, async () => {
      await producer.send({ topic: 'T', body: 'x', ...delay });
      const [request] = broker.asked(RequestCode.SEND_MESSAGE_V2);
      assert.deepEqual(ofSystem(decodeSendMessageV2(request!.ext).properties!), properties);
    });

  const refused: readonly (readonly [Delay, RegExp])[] = [
    [{ delayLevel: 1, deliverAt: 5 }, /delayLevel and deliverAt are two delays/],
    [{ delayLevel: 0 }, /delayLevel is 0/],
    [{ delayLevel: 1.5 }, /delayLevel is 1.5/],
    [{ delayLevel: 2 ** 31 }, /delayLevel is 2147483648/],
    [{ delayMs: -1 }, /delayMs is -1/],
    [{ deliverAt: new Date('nonsense') }, /deliverAt is NaN/],
  ];
  for (const [delay, problem] of refused)
    it(`refuses ${JSON.stringify(delay)}, and sends nothing`, async () => {
      await assert.rejects(producer.send({ topic: 'T', body: 'x', ...delay }), (error: unknown) => {
        assert.ok(error instanceof ClientError);
        assert.equal(error.code, 'ILLEGAL_MESSAGE');
        assert.match(error.line(), problem);
        return true;
      });
      assert.equal(broker.asked(RequestCode.SEND_MESSAGE_V2).length, 0);
    });

  it('refuses a delayed message in a batch', async () => {
    const batch = producer.sendBatch([{ topic: 'T', body: 'x', delayLevel: 1 }]);
    await assert.rejects(batch, /batch cannot be delayed/);
    assert.equal(broker.asked(RequestCode.SEND_BATCH_MESSAGE).length, 0);
  });
});
