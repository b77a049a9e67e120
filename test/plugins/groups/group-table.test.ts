import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../../../config/options.js';
import { GroupTable } from '../../../plugins/groups/group-table.js';
import { GroupsFile } from '../../../plugins/groups/groups-file.js';
import { decodeGroupsFile, encodeGroupsFile } from '../../../plugins/groups/groups-json.js';
import {
  decodeSubscriptionGroupWrapper,
  defaultSubscriptionGroup,
  encodeSubscriptionGroupConfig,
} from '../../../protocol/bodies/subscription-group.js';
import { defaultOptions } from '../../support/default-options.js';
import { FakeClock } from '../../support/fake-clock.js';
import { bodyOf } from '../../support/fake-connection.js';
import { localPool } from '../../support/local-pool.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { tempDir } from '../../support/temp-dir.js';
import { javaGroupsJson } from './java-groups-json.js';
import { setUp } from './set-up.js';

function makeTable(changes: Partial<Options> = {}) {
  const options = defaultOptions({ memory: true, ...changes });
  const logger = recordingLogger();
  return new GroupTable(options, new FakeClock(), logger, new GroupsFile(options, localPool, logger));
}

/** 4.9: SubscriptionGroupManager#init. */
const startGroups = [
  'CID_ONS-HTTP-PROXY',
  'CID_ONSAPI_OWNER',
  'CID_ONSAPI_PERMISSION',
  'CID_ONSAPI_PULL',
  'FILTERSRV_CONSUMER',
  'SELF_TEST_C_GROUP',
  'TOOLS_CONSUMER',
];

describe('plugins/groups: subscription groups', () => {
  it('has those of 4.9 from the start', () => {
    const table = makeTable();
    assert.deepEqual([...table.all().keys()].sort(), startGroups);
    for (const [name, config] of table.all()) assert.deepEqual(config, defaultSubscriptionGroup(name));
  });

  it('creates on use with the defaults of 4.9', () => {
    const table = makeTable();
    assert.deepEqual(table.find('G'), {
      groupName: 'G',
      consumeEnable: true,
      consumeFromMinEnable: true,
      consumeBroadcastEnable: true,
      retryQueueNums: 1,
      retryMaxTimes: 16,
      brokerId: 0,
      whichBrokerWhenConsumeSlowly: 1,
      notifyConsumerIdsChangedEnable: true,
    });
    assert.equal(table.dataVersion.counter, 1);
    table.find('G');
    assert.equal(table.dataVersion.counter, 1);
  });

  it('creates only system groups when auto creation is off', () => {
    const table = makeTable({ autoCreateSubscriptionGroup: false });
    assert.equal(table.find('G'), undefined);
    assert.equal(table.find('CID_RMQ_SYS_TRANS')?.groupName, 'CID_RMQ_SYS_TRANS');
  });

  it('B32: creates none with a bad name', () => {
    const table = makeTable();
    for (const name of ['../../../../tmp/x', 'g/h', 'x'.repeat(121), 'x'.repeat(256), '', ' ', 'a.b']) {
      assert.equal(table.find(name), undefined, name);
    }
    assert.ok(table.find('x'.repeat(120)));
    assert.equal(table.all().size, startGroups.length + 1);
  });

  it('creates no more than autoCreatedGroupsMax', async () => {
    const table = makeTable({ autoCreatedGroupsMax: 2 });
    assert.ok(table.find('A'));
    assert.ok(table.find('B'));
    assert.equal(table.find('C'), undefined);
    await table.delete('A');
    assert.ok(table.find('C'));
  });

  it("writes the original's file byte for byte and reads it", () => {
    const { subscriptionGroupTable, dataVersion } = decodeGroupsFile(Buffer.from(javaGroupsJson));
    assert.deepEqual([...subscriptionGroupTable.keys()], ['SELF_TEST_C_GROUP', 'CID_ONS-HTTP-PROXY']);
    assert.deepEqual(subscriptionGroupTable.get('SELF_TEST_C_GROUP'), defaultSubscriptionGroup('SELF_TEST_C_GROUP'));
    assert.equal(encodeGroupsFile(subscriptionGroupTable.values(), dataVersion), javaGroupsJson);
  });

  it('is on disk when put resolves, and the next start finds it', async () => {
    using dir = tempDir();
    const place = { memory: false, storePathRootDir: dir.path, storePathCommitLog: join(dir.path, 'commitlog') };
    const table = makeTable(place);
    table.load();
    await table.put({ ...defaultSubscriptionGroup('G'), retryMaxTimes: 3 });
    assert.match(readFileSync(join(dir.path, 'config', 'subscriptionGroup.json'), 'utf8'), /"retryMaxTimes":3/);
    table.find('Used');
    await table.flush();
    const again = makeTable(place);
    again.load();
    assert.deepEqual(again.all(), table.all());
    assert.deepEqual(again.dataVersion, table.dataVersion);
  });
});

describe('plugins/groups: administration of groups', () => {
  const put = (groupName: string, more = {}): Buffer => {
    return encodeSubscriptionGroupConfig({ ...defaultSubscriptionGroup(groupName), ...more });
  };

  it('creates and changes (200), lists (201), deletes with or without offsets (207)', async () => {
    const at = setUp();
    assert.equal((await at.router.call(200, { body: put('G', { consumeEnable: false }) })).code, 0);
    assert.equal(at.groups.all().get('G')?.consumeEnable, false);
    const list = decodeSubscriptionGroupWrapper(bodyOf(await at.router.call(201)));
    assert.deepEqual(list.subscriptionGroupTable, at.groups.all());
    assert.deepEqual(list.dataVersion, at.groups.dataVersion);
    assert.equal((await at.router.call(207, { ext: { groupName: 'G' } })).code, 0);
    assert.equal(at.groups.all().has('G'), false);
    assert.deepEqual(at.deletedOffsets, []);
    await at.router.call(207, { ext: { groupName: 'G', removeOffset: 'true' } });
    assert.deepEqual(at.deletedOffsets, ['G']);
  });

  it('B32: refuses bad names (200)', async () => {
    const at = setUp();
    for (const name of ['../../../../tmp/x', 'g/h', 'x'.repeat(121), 'x'.repeat(256), '']) {
      assert.equal((await at.router.call(200, { body: put(name) })).code, 1, name);
    }
    assert.equal(at.groups.all().size, startGroups.length);
  });

  it('refuses impossible queue counts and bodies of another shape', async () => {
    const at = setUp();
    const reply = await at.router.call(200, { body: put('G', { retryQueueNums: -1 }) });
    assert.match(reply.remark ?? '', /retryQueueNums/);
    for (const body of ['', 'null', '[]', '{"groupName":1,"retryMaxTimes":"many"}', '{']) {
      assert.equal((await at.router.call(200, { body: Buffer.from(body) })).code, 1, body);
    }
    assert.equal(at.groups.all().has('G'), false);
  });

  it('is refused on a slave', async () => {
    const at = setUp({ brokerRole: 'SLAVE' });
    assert.equal((await at.router.call(200, { body: put('G') })).code, 1);
    assert.equal((await at.router.call(207, { ext: { groupName: 'TOOLS_CONSUMER' } })).code, 1);
    assert.equal(at.groups.all().has('TOOLS_CONSUMER'), true);
  });
});
