import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../../../config/options.js';
import { TopicTable } from '../../../plugins/topics/topic-table.js';
import { TopicsFile } from '../../../plugins/topics/topics-file.js';
import { decodeTopicsFile, encodeTopicsFile } from '../../../plugins/topics/topics-json.js';
import type { TopicConfig } from '../../../protocol/bodies/topic-config.js';
import { defaultOptions } from '../../support/default-options.js';
import { FakeClock } from '../../support/fake-clock.js';
import { localPool } from '../../support/local-pool.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { tempDir } from '../../support/temp-dir.js';
import { javaEmptyTopicsJson, javaTopicsJson } from './java-topics-json.js';

function makeTable(changes: Partial<Options> = {}) {
  const options = defaultOptions({ memory: true, ...changes });
  const logger = recordingLogger();
  const clock = new FakeClock();
  const table = new TopicTable(options, clock, logger, new TopicsFile(options, localPool, logger));
  return { table, logger, clock };
}

function onDisk(dir: string, changes: Partial<Options> = {}) {
  return makeTable({ memory: false, storePathRootDir: dir, storePathCommitLog: join(dir, 'commitlog'), ...changes });
}

function topic(topicName: string, more: Partial<TopicConfig> = {}): TopicConfig {
  const queues = { readQueueNums: 4, writeQueueNums: 4 };
  return { topicName, ...queues, perm: 6, topicFilterType: 'SINGLE_TAG', topicSysFlag: 0, order: false, ...more };
}

describe('plugins/topics: topics of the start', () => {
  /** From the constructor of 4.9's TopicConfigManager; the topic of timers is RocketMQ 5's. */
  const expected = {
    SELF_TEST_TOPIC: [1, 6],
    TBW102: [8, 7],
    BenchmarkTest: [1024, 6],
    DefaultCluster: [16, 7],
    'broker-a': [1, 7],
    OFFSET_MOVED_EVENT: [1, 6],
    SCHEDULE_TOPIC_XXXX: [18, 6],
    rmq_sys_wheel_timer: [1, 6],
    DefaultCluster_REPLY_TOPIC: [1, 6],
  };
  const shape = (table: TopicTable): Record<string, number[]> => {
    return Object.fromEntries(
      [...table.all()].map(([name, { writeQueueNums, perm }]) => [name, [writeQueueNums, perm]]),
    );
  };

  it('are those of 4.9', () => {
    assert.deepEqual(shape(makeTable().table), expected);
    for (const { readQueueNums, writeQueueNums } of makeTable().table.all().values()) {
      assert.equal(readQueueNums, writeQueueNums);
    }
  });

  it('follow the options', () => {
    const { table } = makeTable({
      autoCreateTopicEnable: false,
      clusterTopicEnable: false,
      brokerTopicEnable: false,
      traceTopicEnable: true,
    });
    const { TBW102: _template, ...rest } = expected;
    const changed = { DefaultCluster: [16, 1], 'broker-a': [1, 1], RMQ_SYS_TRACE_TOPIC: [1, 6] };
    assert.deepEqual(shape(table), { ...rest, ...changed });
  });

  it('may neither be created nor deleted, with the constants of 4.9 and every rmq_sys_ name', () => {
    const { table } = makeTable();
    for (const name of [
      ...Object.keys(expected),
      'RMQ_SYS_TRANS_HALF_TOPIC',
      'TRANS_CHECK_MAX_TIME_TOPIC',
      'rmq_sys_x',
    ]) {
      assert.equal(table.isSystemTopic(name), true, name);
    }
    assert.equal(table.isSystemTopic('T'), false);
  });
});

describe('plugins/topics: creation by a send', () => {
  it('takes the smaller queue count, the template without inheritance, and bumps the version', () => {
    const { table, logger, clock } = makeTable();
    clock.advance(5);
    const before = table.dataVersion;
    const created = table.createOnSend('T', 'TBW102', 4, '10.0.0.1:5', false);
    assert.deepEqual(created, topic('T'));
    assert.equal(table.get('T'), created);
    assert.deepEqual(table.dataVersion, { counter: before.counter + 1, timestamp: clock.wallMs() });
    const [line] = logger.lines;
    assert.deepEqual([line?.fields['topic'], line?.fields['client'], line?.fields['queues']], ['T', '10.0.0.1:5', 4]);
    assert.equal(table.createOnSend('T2', 'TBW102', 32, 'c', false)?.writeQueueNums, 8);
    assert.equal(table.createOnSend('T3', 'TBW102', -1, 'c', false)?.writeQueueNums, 0);
  });

  it('returns what is there already and changes nothing', () => {
    const { table } = makeTable();
    const first = table.createOnSend('T', 'TBW102', 4, 'c', false);
    const version = table.dataVersion;
    assert.equal(table.createOnSend('T', 'TBW102', 2, 'c', false), first);
    assert.equal(table.dataVersion, version);
  });

  it('marks topics of unit mode as 4.9 does', () => {
    const { table } = makeTable();
    assert.equal(table.createOnSend('T', 'TBW102', 1, 'c', true)?.topicSysFlag, 1);
    assert.equal(table.createOnSend('%RETRY%G', 'TBW102', 1, 'c', true)?.topicSysFlag, 2);
  });

  it('fails without a template, with one that does not hand down, and when it is switched off', async () => {
    const { table } = makeTable();
    assert.equal(table.createOnSend('T', 'NoSuch', 4, 'c', false), undefined);
    assert.equal(table.createOnSend('T', 'BenchmarkTest', 4, 'c', false), undefined);
    await table.put(topic('Template', { perm: 7, writeQueueNums: 3 }));
    assert.equal(table.createOnSend('T', 'Template', 4, 'c', false)?.writeQueueNums, 3);

    const off = makeTable({ autoCreateTopicEnable: false });
    assert.equal(off.table.createOnSend('T', 'TBW102', 4, 'c', false), undefined);
    // A template left in topics.json by earlier days does not count either.
    await off.table.put(topic('TBW102', { perm: 7 }));
    assert.equal(off.table.createOnSend('T', 'TBW102', 4, 'c', false), undefined);
  });

  it('B32: makes no topic of a bad name', () => {
    const { table } = makeTable();
    const count = table.all().size;
    for (const name of ['../../x', 'a/b', 'a.b', '主题', 'a b', '', ' ', 'x'.repeat(128)]) {
      assert.equal(table.createOnSend(name, 'TBW102', 4, 'c', false), undefined, name);
      assert.throws(() => table.createInternal(name, 1, 6, 0), /specified topic/, name);
    }
    assert.equal(table.all().size, count);
    assert.ok(table.createOnSend('x'.repeat(127), 'TBW102', 4, 'c', false));
  });

  it('is bounded, with one log line a minute that names the setting', async () => {
    const { table, logger, clock } = makeTable({ autoCreatedTopicsMax: 2, autoCreatedGroupsMax: 1 });
    const warnings = (): number =>
      logger.lines.filter(({ fields }) => fields['setting'] === 'autoCreatedTopicsMax').length;
    table.createOnSend('A', 'TBW102', 1, 'c', false);
    table.createOnSend('B', 'TBW102', 1, 'c', false);
    for (let i = 0; i < 10; i++) assert.equal(table.createOnSend(`C${i}`, 'TBW102', 1, 'c', false), undefined);
    assert.equal(warnings(), 1);
    clock.advance(60_000);
    assert.equal(table.createOnSend('C', 'TBW102', 1, 'c', false), undefined);
    assert.equal(warnings(), 2);
    // Topics of groups have a bound of their own, and deleting makes room.
    table.createInternal('%RETRY%G', 1, 6, 0);
    table.createInternal('%DLQ%G', 1, 6, 0);
    assert.throws(() => table.createInternal('%RETRY%H', 1, 6, 0), /autoCreatedGroupsMax/);
    await table.delete('A');
    assert.ok(table.createOnSend('C', 'TBW102', 1, 'c', false));
  });
});

describe('plugins/topics: changes', () => {
  it('tell listeners and bump the version; deleting what is not there does neither', async () => {
    const { table } = makeTable();
    let told = 0;
    table.onChange(() => told++);
    await table.put(topic('T'));
    await table.put(topic('T', { perm: 4 }));
    await table.delete('NoSuch');
    await table.delete('T');
    assert.equal(told, 3);
    assert.equal(table.dataVersion.counter, 3);
  });

  it('take the order from the name server, and only a difference is a change', async () => {
    const { table } = makeTable();
    await table.put(topic('A'));
    await table.put(topic('B', { order: true }));
    const counter = table.dataVersion.counter;
    table.setOrderTopics(new Set(['A', 'NoSuch']));
    assert.deepEqual([table.get('A')?.order, table.get('B')?.order], [true, false]);
    assert.equal(table.dataVersion.counter, counter + 1);
    table.setOrderTopics(new Set(['A']));
    assert.equal(table.dataVersion.counter, counter + 1);
  });
});

describe('plugins/topics: topics.json', () => {
  it("is byte for byte the original's, in both directions", () => {
    const { topicConfigTable, dataVersion } = decodeTopicsFile(Buffer.from(javaTopicsJson));
    assert.deepEqual(dataVersion, { counter: 7, timestamp: 1700000000123 });
    const retry = topic('%RETRY%G', { readQueueNums: 1, writeQueueNums: 1, order: true, topicSysFlag: 2 });
    assert.deepEqual([...topicConfigTable.values()], [topic('T', { writeQueueNums: 5 }), retry]);
    assert.equal(encodeTopicsFile(topicConfigTable.values(), dataVersion), javaTopicsJson);
    assert.equal(encodeTopicsFile([], { counter: 0, timestamp: 1795994442160 }), javaEmptyTopicsJson);
  });

  it('is read over the topics of the start; bad names in it are left out', () => {
    using dir = tempDir();
    mkdirSync(join(dir.path, 'config'));
    const bad = javaTopicsJson.replaceAll('"%RETRY%G"', '"../../x"').replaceAll('"T"', '"TBW102"');
    writeFileSync(join(dir.path, 'config', 'topics.json'), bad);
    const { table, logger } = onDisk(dir.path);
    table.load();
    assert.deepEqual(table.get('TBW102'), topic('TBW102', { writeQueueNums: 5 }));
    assert.equal(table.get('../../x'), undefined);
    assert.equal(logger.lines.filter(({ fields }) => fields['topic'] === '../../x').length, 1);
    assert.deepEqual(table.dataVersion, { counter: 7, timestamp: 1700000000123 });
  });

  it('holds a topic when put resolves, and the next start finds it', async () => {
    using dir = tempDir();
    const { table } = onDisk(dir.path);
    table.load();
    await table.put(topic('T'));
    const path = join(dir.path, 'config', 'topics.json');
    assert.match(readFileSync(path, 'utf8'), /"topicName":"T"/);
    table.createOnSend('Sent', 'TBW102', 4, 'c', false);
    await table.flush();
    const again = onDisk(dir.path);
    again.table.load();
    assert.deepEqual([...again.table.all()], [...table.all()]);
    assert.deepEqual(again.table.dataVersion, table.dataVersion);
  });

  it('that cannot be written fails a put, leaves a sent topic usable, and is tried again', async () => {
    using dir = tempDir();
    writeFileSync(join(dir.path, 'config'), 'a file where the folder should be');
    const { table } = onDisk(dir.path);
    await assert.rejects(table.put(topic('T')), /topics\.json/);
    assert.ok(table.createOnSend('Sent', 'TBW102', 4, 'c', false));
    await assert.rejects(table.flush());
  });
});
