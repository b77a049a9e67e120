import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { parseSettings, settingsOf, smallFiles } from './support/store-folder.js';
import { arrived, createTopic, driver, mqadmin, numbered, unique } from './support/suite.js';
import { defaultKind, startNameServer, startTarget, type NameServer, type Target } from './support/target.js';

const names = ['topics.json', 'subscriptionGroup.json', 'consumerOffset.json'];
const retryGroup = 'config_retry';
/** What `fill` asks for, in the words of 4.9. */
const oddGroup = {
  brokerId: 7,
  consumeBroadcastEnable: false,
  consumeEnable: false,
  consumeFromMinEnable: false,
  groupName: 'config_odd',
  notifyConsumerIdsChangedEnable: false,
  retryMaxTimes: 2,
  retryQueueNums: 3,
  whichBrokerWhenConsumeSlowly: 5,
};
const readableTopic = (topicName: string): object => ({
  order: false,
  perm: 4,
  readQueueNums: 2,
  topicFilterType: 'SINGLE_TAG',
  topicName,
  topicSysFlag: 0,
  writeQueueNums: 2,
});

interface Settings {
  readonly dataVersion?: { readonly counter: number; readonly timestamp: number };
  readonly topicConfigTable?: Readonly<Record<string, object>>;
  readonly subscriptionGroupTable?: Readonly<Record<string, object>>;
  readonly offsetTable?: Readonly<Record<string, object>>;
}

/** Every test goes on with what the one before it left. */
describe('files below config/', function () {
  this.timeout(90_000);
  let storeDir: string;
  let namesrv: NameServer;
  let served: Target | undefined;
  const topic = unique('config');

  before(async function () {
    if (defaultKind === 'jvm') this.skip();
    storeDir = mkdtempSync(join(tmpdir(), 'mqkernel-config-'));
    namesrv = await startNameServer();
  });
  after(async () => {
    await served?.stop();
    await namesrv?.stop();
    if (storeDir !== undefined) rmSync(storeDir, { recursive: true, force: true });
  });

  it('of ours are read by the real one as they are meant', async () => {
    const target = await start();
    await fill(target);
    await stop();
    const read = await (await driver()).settings(storeDir);
    for (const name of names) assertHolds(parseSettings(read[name] ?? ''), settings(name), name);
    const { dataVersion, topicConfigTable = {} } = parseSettings(read['topics.json'] ?? '') as Settings;
    assert.deepEqual(dataVersion, settings('topics.json').dataVersion);
    assert.deepEqual(topicConfigTable[`${topic}_readable`], readableTopic(`${topic}_readable`));
    const { subscriptionGroupTable = {} } = parseSettings(read['subscriptionGroup.json'] ?? '') as Settings;
    assert.deepEqual(subscriptionGroupTable['config_odd'], oddGroup);
    const { offsetTable = {} } = parseSettings(read['consumerOffset.json'] ?? '') as Settings;
    const [committed] = Object.entries(offsetTable).filter(([key]) => key.startsWith(`${topic}@`));
    assert.equal(
      Object.values(committed?.[1] ?? {}).reduce((sum: number, offset) => sum + Number(offset), 0),
      6,
    );
  });

  it('of the real one are read by ours, and keep everything when ours writes them', async () => {
    await (await driver()).settings(storeDir, true);
    const before = names.map(settings);
    const target = await start();
    await createTopic(target, `${topic}_later`, 2);
    await mqadmin(target, 'updateSubGroup', '-b', target.broker, '-g', `${retryGroup}_later`);
    await consume(target, `${topic}_later`);
    await stop();
    for (const [i, name] of names.entries()) {
      const [now, then] = [settings(name), before[i] ?? {}];
      assertHolds(now, then, name);
      if (then.dataVersion === undefined) continue;
      assert.ok((now.dataVersion?.counter ?? 0) > then.dataVersion.counter, `${name}: the version moves`);
      assert.ok((now.dataVersion?.timestamp ?? 0) > then.dataVersion.timestamp, `${name}: its time moves`);
    }
  });

  it('that are empty give way to the copy beside them, whoever wrote it', async () => {
    const java = await driver();
    // Ours wrote the copies; the real one reads them.
    const ours = names.map((name) => parseSettings(readFileSync(`${pathOf(name)}.bak`, 'utf8')));
    names.forEach((name) => writeFileSync(pathOf(name), ''));
    const read = await java.settings(storeDir);
    for (const [i, name] of names.entries()) assertHolds(parseSettings(read[name] ?? ''), ours[i] as Settings, name);
    // The real one writes twice, so that its copies hold everything; ours reads them.
    await java.settings(storeDir, true);
    await java.settings(storeDir, true);
    const theirs = names.map(settings);
    names.forEach((name) => writeFileSync(pathOf(name), ''));
    const target = await start();
    await createTopic(target, `${topic}_last`, 1);
    await stop();
    assertHolds(settings('topics.json'), theirs[0] ?? {}, 'topics.json');
    await start();
    await stop();
    for (const [i, name] of names.entries()) assertHolds(loaded(name), theirs[i] ?? {}, name);
  });

  it('with members that 4.9 does not know are read by both', async () => {
    for (const name of names) {
      const text = readFileSync(pathOf(name), 'utf8').trim() || readFileSync(`${pathOf(name)}.bak`, 'utf8').trim();
      writeFileSync(pathOf(name), text.replace('{', '{"unknown":{"a":[1,{"b":null}]},'));
    }
    const known = names.map(settings);
    const read = await (await driver()).settings(storeDir);
    for (const [i, name] of names.entries()) assertHolds(parseSettings(read[name] ?? ''), known[i] ?? {}, name);
    const target = await start();
    await createTopic(target, `${topic}_unknown`, 1);
    await stop();
    assertHolds(settings('topics.json'), known[0] ?? {}, 'topics.json');
  });

  async function start(): Promise<Target> {
    mkdirSync(join(storeDir, 'config'), { recursive: true });
    served = await startTarget({ kind: defaultKind, storeDir, namesrv: namesrv.address, options: smallFiles });
    return served;
  }

  async function stop(): Promise<void> {
    await served?.stop();
    served = undefined;
  }

  const pathOf = (name: string): string => join(storeDir, 'config', name);
  const settings = (name: string): Settings => settingsOf(storeDir, name) as Settings;

  /** What a start reads: the file, or its copy when the file is empty. */
  function loaded(name: string): Settings {
    const text = readFileSync(pathOf(name), 'utf8');
    return parseSettings(text === '' ? readFileSync(`${pathOf(name)}.bak`, 'utf8') : text) as Settings;
  }

  async function fill(target: Target): Promise<void> {
    await createTopic(target, topic, 3);
    await createTopic(target, `${topic}_readable`, 2, 4);
    await createTopic(target, `%RETRY%${retryGroup}`, 1);
    const odd = [
      '-s',
      'false',
      '-m',
      'false',
      '-d',
      'false',
      '-q',
      '3',
      '-r',
      '2',
      '-i',
      '7',
      '-w',
      '5',
      '-a',
      'false',
    ];
    await mqadmin(target, 'updateSubGroup', '-b', target.broker, '-g', 'config_odd', ...odd);
    await consume(target, topic);
  }

  async function consume(target: Target, from: string): Promise<void> {
    const java = await driver();
    const producer = await java.producer(target.namesrv);
    for (const message of numbered(from, 6)) await producer.send(message);
    const consumer = await java.pushConsumer({ namesrv: target.namesrv, group: unique('config'), topic: from });
    await arrived(consumer, 6);
    await Promise.all([producer.close(), consumer.close()]);
  }
});

/** All entries of `then` are in `now` with the same values; there may be more. */
function assertHolds(now: unknown, then: Settings, what: string): void {
  for (const table of ['topicConfigTable', 'subscriptionGroupTable', 'offsetTable'] as const) {
    const entries = Object.entries(then[table] ?? {});
    if (then[table] !== undefined) assert.ok(entries.length > 0, `${what} has entries`);
    for (const [key, value] of entries) assert.deepEqual((now as Settings)[table]?.[key], value, `${what}: ${key}`);
  }
}
