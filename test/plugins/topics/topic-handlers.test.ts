import assert from 'node:assert/strict';
import type { Options } from '../../../config/options.js';
import type { Queues } from '../../../plugins/reput/contract.js';
import { TopicHandlers } from '../../../plugins/topics/topic-handlers.js';
import { TopicTable } from '../../../plugins/topics/topic-table.js';
import { TopicsFile } from '../../../plugins/topics/topics-file.js';
import { decodeTopicConfigSerializeWrapper } from '../../../protocol/bodies/topic-config.js';
import { decodeTopicList } from '../../../protocol/bodies/topic-list.js';
import { defaultOptions } from '../../support/default-options.js';
import { bodyOf, FakeRouter } from '../../support/fake-connection.js';
import { FakeClock } from '../../support/fake-clock.js';
import { localPool } from '../../support/local-pool.js';
import { recordingLogger } from '../../support/recording-logger.js';

function setUp(changes: Partial<Options> = {}) {
  const options = defaultOptions({ memory: true, ...changes });
  const logger = recordingLogger();
  const table = new TopicTable(options, new FakeClock(), logger, new TopicsFile(options, localPool, logger));
  const deleted: string[] = [];
  const queues = { deleteTopic: async (topic: string) => void deleted.push(topic) } as Queues;
  const router = new FakeRouter();
  new TopicHandlers(table, queues, options, logger).register(router);
  return { table, router, deleted };
}

/** What mqadmin sends. */
function header(topic: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    topic,
    defaultTopic: 'TBW102',
    readQueueNums: '8',
    writeQueueNums: '16',
    perm: '6',
    topicFilterType: 'SINGLE_TAG',
    topicSysFlag: '0',
    order: 'true',
    ...more,
  };
}

const badNames: readonly [name: string, remark: RegExp][] = [
  ['../../x', /illegal characters/],
  ['a/b', /illegal characters/],
  ['a.b', /illegal characters/],
  ['主题', /illegal characters/],
  ['a b', /illegal characters/],
  ['', /blank/],
  ['x'.repeat(128), /longer than topic max length/],
  ['SCHEDULE_TOPIC_XXXX', /conflict with system topic/],
  ['rmq_sys_x', /conflict with system topic/],
  ['TBW102', /conflict with system topic/],
  ['DefaultCluster', /conflict with system topic/],
  ['broker-a', /conflict with system topic/],
  ['DefaultCluster_REPLY_TOPIC', /conflict with system topic/],
];

describe('plugins/topics: UPDATE_AND_CREATE_TOPIC (17)', () => {
  it('creates and changes; read and write queues are independent and the order is not stored', async () => {
    const { table, router } = setUp();
    assert.equal((await router.call(17, { ext: header('T') })).code, 0);
    const { readQueueNums, writeQueueNums, perm, order, topicSysFlag } = table.get('T') ?? assert.fail();
    assert.deepEqual([readQueueNums, writeQueueNums, perm, order, topicSysFlag], [8, 16, 6, false, 0]);
    assert.equal((await router.call(17, { ext: header('T', { perm: '4', writeQueueNums: '4' }) })).code, 0);
    assert.deepEqual([table.get('T')?.perm, table.get('T')?.writeQueueNums], [4, 4]);
  });

  for (const [name, remark] of badNames) {
    it(`B32: refuses the topic ${JSON.stringify(name.slice(0, 30))}`, async () => {
      const { table, router } = setUp();
      const before = new Map(table.all());
      const reply = await router.call(17, { ext: header(name) });
      assert.equal(reply.code, 1);
      assert.match(reply.remark ?? '', remark);
      assert.deepEqual(table.all(), before);
    });
  }

  it('names the field that is missing or out of range', async () => {
    const { router } = setUp();
    const wrong: readonly [field: string, value: string][] = [
      ['readQueueNums', '-1'],
      ['writeQueueNums', '65537'],
      ['writeQueueNums', 'many'],
      ['perm', '16'],
      ['topicFilterType', 'NONE'],
    ];
    for (const [field, value] of wrong) {
      const reply = await router.call(17, { ext: header('T', { [field]: value }) });
      assert.equal(reply.code, 1);
      assert.ok(reply.remark?.includes(field), `${field}: ${reply.remark}`);
    }
    const { perm: _perm, ...rest } = header('T');
    assert.match((await router.call(17, { ext: rest })).remark ?? '', /perm is missing/);
  });

  it('is refused on a slave', async () => {
    const { router } = setUp({ brokerRole: 'SLAVE' });
    const reply = await router.call(17, { ext: header('T') });
    assert.deepEqual([reply.code, reply.remark?.slice(0, 19)], [1, "Can't modify topic "]);
  });
});

describe('plugins/topics: DELETE_TOPIC_IN_BROKER (215) and GET_ALL_TOPIC_CONFIG (21)', () => {
  it('deletes the topic and its queues', async () => {
    const { table, router, deleted } = setUp();
    await router.call(17, { ext: header('T') });
    assert.equal((await router.call(215, { ext: { topic: 'T' } })).code, 0);
    assert.equal(table.get('T'), undefined);
    assert.deepEqual(deleted, ['T']);
    // Left-over queues of an unknown topic go too.
    assert.equal((await router.call(215, { ext: { topic: 'Gone' } })).code, 0);
    assert.deepEqual(deleted, ['T', 'Gone']);
  });

  for (const [name, remark] of badNames) {
    it(`B32: refuses to delete ${JSON.stringify(name.slice(0, 30))}`, async () => {
      const { router, deleted } = setUp();
      const reply = await router.call(215, { ext: { topic: name } });
      assert.equal(reply.code, 1);
      assert.match(reply.remark ?? '', remark);
      assert.deepEqual(deleted, []);
    });
  }

  it('lists the topics of the system (305)', async () => {
    const { topicList } = decodeTopicList(bodyOf(await setUp().router.call(305)));
    for (const name of ['TBW102', 'SCHEDULE_TOPIC_XXXX', 'OFFSET_MOVED_EVENT', 'DefaultCluster', 'broker-a'])
      assert.ok(topicList.includes(name), name);
    assert.ok(!topicList.includes('T'));
  });

  it('lists every topic with the version', async () => {
    const { table, router } = setUp();
    await router.call(17, { ext: header('T') });
    const body = decodeTopicConfigSerializeWrapper(bodyOf(await router.call(21)));
    assert.deepEqual(body.topicConfigTable, table.all());
    assert.deepEqual(body.dataVersion, table.dataVersion);
  });
});
