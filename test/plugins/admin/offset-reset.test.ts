import assert from 'node:assert/strict';
import { Consumers } from '../../../plugins/groups/contract.js';
import { Offsets } from '../../../plugins/offsets/contract.js';
import { encodeHeartbeat } from '../../../protocol/bodies/heartbeat.js';
import { decodeResetOffsetBody } from '../../../protocol/bodies/reset-offset.js';
import { LanguageCode } from '../../../protocol/codes.js';
import { FakeClock } from '../../support/fake-clock.js';
import type { Answer, RawClient } from '../../support/raw-client.js';
import { consumerOf, pullAll, send, subscriptionTo } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

describe('INVOKE_BROKER_TO_RESET_OFFSET (222)', () => {
  const clock = new FakeClock();
  const begun = clock.wallMs();
  let broker: TestBroker;
  let admin: RawClient;
  const members: RawClient[] = [];

  /** T has four queues; queue 0 holds ten messages, 100 ms apart. */
  before(async () => {
    broker = await testBroker({ clock });
    admin = await broker.connect();
    for (let i = 0; i < 10; i++) {
      await send(admin, { queueId: 0 });
      clock.advance(100);
    }
    await pullAll(admin, 10);
    for (let queueId = 0; queueId < 4; queueId++) broker.get(Offsets).commit('test', 'G', 'T', queueId, queueId && 5);
    broker.get(Offsets).commit('test', 'G', 'T', 0, 5);
  });

  afterEach(async () => {
    for (const client of members.splice(0)) client[Symbol.dispose]();
    await until(() => broker.get(Consumers).group('G') === undefined, 'the group has no member any more');
  });

  after(async () => {
    admin[Symbol.dispose]();
    await broker.stop();
  });

  async function join(language: number = LanguageCode.JAVA, version = 407): Promise<RawClient> {
    const client = await broker.connect();
    const consumerDataSet = [consumerOf('G', [subscriptionTo('T')])];
    const body = encodeHeartbeat({ clientID: `c${members.length}`, consumerDataSet, producerDataSet: [] });
    assert.equal((await client.ask(34, { body, language, version })).code, 0);
    members.push(client);
    return client;
  }

  interface Wish {
    readonly timestamp?: number;
    readonly isForce?: boolean;
    readonly language?: number;
    readonly topic?: string;
    readonly group?: string;
  }
  function reset({ timestamp = -1, isForce = true, language = 0, topic = 'T', group = 'G' }: Wish): Promise<Answer> {
    const ext = { topic, group, timestamp: String(timestamp), isForce: String(isForce) };
    return admin.ask(222, { ext, language });
  }

  /** Offsets by queue id. */
  const offsetsIn = (body: Buffer): number[] =>
    decodeResetOffsetBody(body)
      .offsetTable.map(([{ queueId }, offset]) => [queueId, offset] as const)
      .sort(([a], [b]) => a - b)
      .map(([, offset]) => offset);

  async function told(client: RawClient): Promise<Answer> {
    const asked = (): Answer | undefined => client.requests.find(({ code }) => code === 220);
    await until(() => asked() !== undefined, 'the client is told to reset');
    return asked() ?? assert.fail();
  }

  it('tells every member where to go, by time, and answers the same', async () => {
    const [one, two] = [await join(), await join()];
    const { code, body } = await reset({ timestamp: begun + 200 });
    assert.equal(code, 0);
    assert.deepEqual(offsetsIn(body), [2, 0, 0, 0]);
    for (const client of [one, two]) {
      const request = await told(client);
      assert.ok(request.oneway);
      assert.deepEqual(
        { ...request.ext },
        { topic: 'T', group: 'G', timestamp: String(begun + 200), isForce: 'false' },
      );
      assert.deepEqual(request.body, body);
      assert.match(request.body.toString(), /\{\{"brokerName":"broker-a","queueId":0,"topic":"T"\}:2[,}]/);
    }
    assert.equal(broker.get(Offsets).query('G', 'T', 0), 5, 'the members commit, not the broker');
  });

  it('goes forward only when forced; -1 is the end', async () => {
    await join();
    assert.deepEqual(offsetsIn((await reset({ isForce: false })).body), [5, 0, 0, 0]);
    assert.deepEqual(offsetsIn((await reset({ isForce: true })).body), [10, 0, 0, 0]);
    assert.deepEqual(offsetsIn((await reset({ timestamp: begun, isForce: false })).body), [0, 0, 0, 0]);
  });

  it('tells C++ clients in a list: all when a C++ tool asks, else those that say that they are', async () => {
    const [java, cpp] = [await join(), await join(LanguageCode.CPP)];
    const { body } = await reset({ timestamp: begun + 200 });
    assert.match(body.toString(), /^\{"offsetTable":\{/);
    assert.match((await told(java)).body.toString(), /^\{"offsetTable":\{/);
    assert.match(
      (await told(cpp)).body.toString(),
      /^\{"offsetTable":\[\{"brokerName":"broker-a","offset":2,"queueId":0,"topic":"T"\},/,
    );
    java.requests.length = 0;
    await reset({ timestamp: begun + 200, language: LanguageCode.CPP });
    assert.match((await told(java)).body.toString(), /^\{"offsetTable":\[/);
  });

  it('refuses in the words of 4.9: no topic, no offsets, nobody there, too old', async () => {
    const outcome = async (wish: Wish): Promise<(number | string | null)[]> => {
      const { code, remark } = await reset(wish);
      return [code, remark];
    };
    const noTopic = '[reset-offset] reset offset failed, no topic in this broker. topic=Unknown';
    assert.deepEqual(await outcome({ topic: 'Unknown' }), [1, noTopic]);
    assert.deepEqual(await outcome({ group: 'New' }), [1, 'THe consumer group <New> not exist']);
    assert.deepEqual(await outcome({ timestamp: 5 }), [
      206,
      'Consumer not online, so can not reset offset, Group: G Topic: T Timestamp: 5',
    ]);
    const fresh = await join();
    await join(LanguageCode.JAVA, 27);
    const [code, remark] = await outcome({});
    assert.equal(code, 1);
    assert.match(String(remark), /^the client does not support this feature\. version=27/);
    assert.equal((await fresh.ask(28)).code, 0);
    assert.deepEqual(
      fresh.requests.filter((request) => request.code === 220),
      [],
      'nobody is told when not all can be',
    );
  });
});
