import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import { encodeCheckClientRequestBody } from '../../protocol/bodies/check-client.js';
import { RequestCode } from '../../protocol/codes.js';
import { goldenAnswers, goldenMessages } from '../plugins/filter/sql92-golden.js';
import { RawClient } from '../support/raw-client.js';
import { heartbeat, propertyText, pull, pullAll, send, subscriptionTo } from '../support/send-pull.js';
import { createTopic, target, unique } from './support/suite.js';

const delivered = goldenAnswers.filter(([, answers]) => answers !== 'REFUSED');
const refused = goldenAnswers.filter(([, answers]) => answers === 'REFUSED').map(([expression]) => expression);
const tooDeep = `${'('.repeat(20_000)}a = 1${')'.repeat(20_000)}`;

/** B25 where consumers meet it: at a broker, by requests. */
describe('SQL92 at a broker (B25)', () => {
  let topic: string;
  let group: string;
  let client: RawClient;

  before(async () => {
    topic = unique('golden');
    group = unique('golden');
    await createTopic(await target(), topic, 1);
    client = await RawClient.connect((await target()).broker);
    for (const [at, properties] of goldenMessages.entries())
      await send(client, { topic, body: Buffer.from(`${at}`), properties: propertyText(properties) });
    await pullAll(client, goldenMessages.length, { topic, consumerGroup: group });
  });

  after(() => client[Symbol.dispose]());

  async function check(subString: string): Promise<readonly [code: number, remark: string]> {
    const subscriptionData = subscriptionTo(topic, { subString, expressionType: 'SQL92' });
    const body = encodeCheckClientRequestBody({ clientId: 'c', group, subscriptionData });
    const { code, remark } = await client.ask(RequestCode.CHECK_CLIENT_CONFIG, { body });
    return [code, remark ?? ''];
  }

  it('delivers the messages for which an expression is true, and those only', async () => {
    for (const [subscription, answers] of delivered) {
      const wish = { topic, consumerGroup: group, expressionType: 'SQL92', subscription };
      const { code, messages } = await pull(client, wish);
      const wanted = [...answers].flatMap((letter, at) => (letter === 'T' ? [`${at}`] : []));
      assert.deepEqual(
        messages.map(({ body }) => body.toString()),
        wanted,
        subscription,
      );
      assert.equal(code, wanted.length === 0 ? 20 : 0, subscription);
      assert.deepEqual(await check(subscription), [0, ''], subscription);
    }
  });

  it('refuses with 23 when a client asks before it starts (46)', async () => {
    for (const expression of refused) assert.equal((await check(expression))[0], 23, expression);
  });

  it('gives 27 to a pull that goes by a heartbeat', async () => {
    for (const [at, subString] of refused.entries()) {
      const consumerGroup = `${group}_${at}`;
      await heartbeat(client, consumerGroup, [subscriptionTo(topic, { subString, expressionType: 'SQL92' })]);
      const { code, remark } = await pull(client, { topic, consumerGroup, sysFlag: 0, subVersion: 1 });
      assert.equal(code, 27, subString);
      assert.match(String(remark), /^The broker's consumer filter data is not exist!Your expression may be wrong!/);
    }
  });

  /** 4.9 loses that it could not compile the expression, and delivers everything; it refuses none but the empty one. */
  async function checkOwn(subscription: string): Promise<void> {
    const wish = { topic, consumerGroup: group, expressionType: 'SQL92', subscription };
    const { code, remark, messages } = await pull(client, wish);
    if ((await target()).kind === 'jvm' && subscription !== '') {
      assert.deepEqual([code, messages.length], [0, goldenMessages.length], subscription);
      return;
    }
    assert.deepEqual([code, messages.length], [23, 0], subscription);
    assert.match(String(remark), /^parse the consumer's subscription failed/);
  }

  it('refuses a pull with such an expression of its own', async () => {
    for (const expression of refused) await checkOwn(expression);
  });

  it('refuses 20,000 parentheses as it refuses others', async () => {
    assert.equal((await check(tooDeep))[0], 23);
    await checkOwn(tooDeep);
    assert.deepEqual(await check('a = 1'), [0, ''], 'and goes on');
  });
});

describe('tags at a broker', () => {
  it('are told apart by their hash alone: a message whose tag has the same one is delivered, and the client passes over it', async () => {
    const { broker } = await target();
    const topic = unique('collision');
    await createTopic(await target(), topic, 1);
    using client = await RawClient.connect(broker);
    // "Aa" and "BB" have one hash code in Java; the body and other properties say nothing to a tag filter.
    const tagged = [['Aa'], ['BB'], ['C'], [], ['B', 'Aa']].map(([tag, body = '']) => ({ tag, body }));
    for (const { tag, body } of tagged) {
      const properties = propertyText({ ...(tag === undefined ? {} : { TAGS: tag }), other: 'Aa' });
      await send(client, { topic, body: Buffer.from(body), properties });
    }
    const wish = { topic, consumerGroup: unique('collision') };
    await pullAll(client, tagged.length, wish);
    const offsets = async (subscription: string): Promise<number[]> =>
      (await pull(client, { ...wish, subscription })).messages.map(({ queueOffset }) => queueOffset);
    assert.deepEqual(await offsets('Aa'), [0, 1]);
    assert.deepEqual(await offsets('BB || C'), [0, 1, 2]);
    assert.deepEqual(await offsets('B'), [4]);
  });
});
