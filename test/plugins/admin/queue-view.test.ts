import assert from 'node:assert/strict';
import { decodeQueryConsumeQueueResponseBody } from '../../../protocol/bodies/consume-queue.js';
import type { RawClient } from '../../support/raw-client.js';
import { heartbeat, pullAll, send, subscriptionTo } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';

describe('QUERY_CONSUME_QUEUE (321)', () => {
  let broker: TestBroker;
  let client: RawClient;

  async function start(options: Parameters<typeof testBroker>[0] = {}): Promise<void> {
    broker = await testBroker(options);
    client = await broker.connect();
    for (let i = 0; i < 5; i++) await send(client, { properties: `TAGS\u0001t${i % 2}` });
    await pullAll(client, 5);
  }

  afterEach(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  async function view(ext: Record<string, string | number>) {
    const asked = { topic: 'T', queueId: 0, index: 0, count: 10, ...ext };
    const texts = Object.fromEntries(Object.entries(asked).map(([name, value]) => [name, String(value)]));
    const { code, remark, body } = await client.ask(321, { ext: texts });
    return { code, remark, view: body.length === 0 ? undefined : decodeQueryConsumeQueueResponseBody(body) };
  }

  /** Java's hashCode of `t0` and `t1`. */
  const codes = [3644n, 3645n];

  it('shows entries from an index on, as they are stored', async () => {
    await start();
    const { code, view: shown } = await view({ index: 1, count: 2 });
    assert.equal(code, 0);
    assert.deepEqual([shown?.minQueueIndex, shown?.maxQueueIndex], [0, 5]);
    assert.deepEqual(
      shown?.queueData.map(({ tagsCode, eval: passes }) => [tagsCode, passes]),
      [
        [codes[1], false],
        [codes[0], false],
      ],
    );
    const [first, second] = shown?.queueData ?? [];
    assert.equal((first?.physicOffset ?? 0) + (first?.physicSize ?? 0), second?.physicOffset);
    assert.equal((await view({ count: 1000 })).view?.queueData.length, 5);
  });

  it('says what is not there', async () => {
    await start();
    assert.deepEqual(await view({ topic: 'Unknown' }), {
      code: 1,
      remark: '0@Unknown is not exist!',
      view: undefined,
    });
    assert.equal((await view({ queueId: 99 })).code, 1);
    const beyond = await view({ index: 5 });
    assert.deepEqual([beyond.code, beyond.remark], [0, 'Index 5 of 0@T is not exist!']);
    assert.deepEqual([beyond.view?.maxQueueIndex, beyond.view?.queueData], [5, []]);
    assert.deepEqual((await view({ queueId: 3 })).view?.queueData, []);
  });

  it("shows the group's subscription, and that it is not online", async () => {
    await start();
    assert.equal((await view({ consumerGroup: 'G' })).view?.filterData, 'G@T is not online!');
    await heartbeat(client, 'G', [subscriptionTo('T', { subString: 't1' })]);
    const { view: shown } = await view({ consumerGroup: 'G' });
    assert.deepEqual([shown?.filterData, shown?.subscriptionData?.subString], ['null', 't1']);
  });

  it('shows ext units, and whether they pass the filter of the group', async () => {
    using dir = tempDir();
    await start({ options: { storePathRootDir: dir.path, enableConsumeQueueExt: true, plugins: ['sql92'] } });
    await heartbeat(client, 'G', [subscriptionTo('T', { subString: 't1', codeSet: [3645] })]);
    const { view: shown } = await view({ consumerGroup: 'G' });
    assert.deepEqual(
      shown?.queueData.map((entry) => entry.eval),
      [false, true, false, true, false],
    );
    const [entry] = shown?.queueData ?? [];
    assert.match(entry?.extendDataJson ?? '', /^\{"msgStoreTime":\d{13},"size":20,"tagsCode":3644\}$/);
    assert.ok((entry?.tagsCode ?? 0n) < 0n);
    await heartbeat(client, 'S', [subscriptionTo('T', { subString: 'a > 1', expressionType: 'SQL92' })]);
    const { filterData } = (await view({ consumerGroup: 'S' })).view ?? {};
    assert.deepEqual(JSON.parse(filterData ?? ''), {
      consumerGroup: 'S',
      expression: 'a > 1',
      expressionType: 'SQL92',
      topic: 'T',
    });
  });
});
