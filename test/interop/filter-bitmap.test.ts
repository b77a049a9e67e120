import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, it } from 'mocha';
import { readExtUnit } from '../../store/consumequeue/ext-unit.js';
import { RawClient } from '../support/raw-client.js';
import { heartbeat, propertyText, pull, send, subscriptionTo } from '../support/send-pull.js';
import { until } from '../support/until.js';
import { filesBelow, settingsOf } from './support/store-folder.js';
import { createTopic, routed } from './support/suite.js';
import { defaultKind, startTarget, type Target, type TargetKind } from './support/target.js';

const options = {
  enablePropertyFilter: true,
  enableCalcFilterBitMap: true,
  enableConsumeQueueExt: true,
  mappedFileSizeConsumeQueueExt: 1000,
  expectConsumerNumUseFilter: 20,
};
const topic = 'Filtered';
const QUEUES = 2;
/** Groups with their expressions, and which messages pass. */
const groups = [
  { group: 'over', expression: 'n > 40', passes: (n: number) => n > 40 },
  { group: 'even', expression: "TAGS = 'even'", passes: (n: number) => n % 2 === 0 },
  {
    group: 'third',
    expression: 'third IS NOT NULL AND n BETWEEN 5 AND 80',
    passes: (n: number) => n % 3 === 0 && n >= 5 && n <= 80,
  },
] as const;

function propertiesOf(n: number): string {
  return propertyText({
    n: String(n),
    ...(n % 2 === 0 ? { TAGS: 'even' } : {}),
    ...(n % 3 === 0 ? { third: '主题' } : {}),
  });
}

interface Life {
  readonly storeDir: string;
  readonly target: Target;
}

interface Kept {
  readonly group: string;
  readonly bornTime: number;
  readonly dead: boolean;
  readonly deadTime: number;
}

/** consumerFilter.json: all of it without times, and the times. */
function keptFilters(storeDir: string): { plain: unknown; times: Map<string, Kept> } {
  const file = settingsOf(storeDir, 'consumerFilter.json') as {
    filterDataByTopic: Record<string, { groupFilterData: Record<string, Kept & Record<string, unknown>> }>;
  };
  const times = new Map<string, Kept>();
  const plain: Record<string, unknown> = {};
  for (const [group, data] of Object.entries(file.filterDataByTopic[topic]?.groupFilterData ?? {})) {
    const { bornTime, deadTime, dead, ...rest } = data;
    times.set(group, { group, bornTime, deadTime, dead });
    plain[group] = rest;
  }
  return { plain, times };
}

/** Ext units of the topic by file and place, without the store times. */
function extUnits(storeDir: string): string[] {
  const units: string[] = [];
  for (const [name, bytes] of filesBelow(join(storeDir, 'consumequeue_ext', topic)))
    for (let at = 0; ;) {
      const unit = readExtUnit(bytes, at);
      if (unit === undefined) break;
      units.push(`${name} ${at} ${unit.tagsCode} ${Buffer.from(unit.bitmap ?? []).toString('hex')}`);
      at += unit.bytes;
    }
  return units;
}

describe('filter bitmaps', function () {
  this.timeout(240_000);
  const folders: string[] = [];
  let served: Target | undefined;
  const members: RawClient[] = [];

  afterEach(stop);
  after(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  async function stop(): Promise<void> {
    for (const member of members.splice(0)) member[Symbol.dispose]();
    await served?.stop();
    served = undefined;
  }

  function folder(): string {
    const path = mkdtempSync(join(tmpdir(), 'mqkernel-bitmap-'));
    folders.push(path);
    return path;
  }

  async function start(kind: TargetKind, storeDir: string, before?: Target): Promise<Target> {
    served = await startTarget({
      kind,
      storeDir,
      options,
      ...(before === undefined ? {} : { sameAddressesAs: before }),
    });
    return served;
  }

  /** A member of each group; ours tells in its file what is in force. */
  async function enter(target: Target, storeDir: string, names: readonly string[], version = 1): Promise<void> {
    for (const { group, expression } of groups.filter(({ group }) => names.includes(group))) {
      const member = await RawClient.connect(target.broker);
      members.push(member);
      const subscription = subscriptionTo(topic, {
        subString: expression,
        expressionType: 'SQL92',
        subVersion: version,
      });
      assert.equal((await heartbeat(member, group, [subscription])).code, 0);
    }
    if (target.kind === 'jvm') return;
    const file = join(storeDir, 'config', 'consumerFilter.json');
    await until(
      () => existsSync(file) && names.every((name) => keptFilters(storeDir).times.has(name)),
      'filters are kept',
    );
  }

  async function fill(target: Target, from: number, to: number): Promise<void> {
    using client = await RawClient.connect(target.broker);
    for (let n = from; n < to; n++) {
      const { code, remark } = await send(client, {
        topic,
        queueId: n % QUEUES,
        body: Buffer.from(String(n)),
        properties: propertiesOf(n),
      });
      assert.equal(code, 0, String(remark));
    }
  }

  async function assertPulled(target: Target, names: readonly string[], count: number): Promise<void> {
    using client = await RawClient.connect(target.broker);
    for (const { group, passes } of groups.filter(({ group }) => names.includes(group))) {
      const found: number[] = [];
      for (let queueId = 0; queueId < QUEUES; queueId++) {
        const wish = { topic, queueId, consumerGroup: group, sysFlag: 0 };
        const perQueue = count / QUEUES;
        await until(async () => (await pull(client, wish)).header.maxOffset === perQueue, 'all is dispatched', 20_000);
        for (let queueOffset = 0; queueOffset < perQueue;) {
          const { header, messages, code, remark } = await pull(client, { ...wish, queueOffset });
          found.push(...messages.map(({ body }) => Number(body.toString())));
          assert.ok(header.nextBeginOffset > queueOffset, `${group}: ${code} ${remark} at ${queueOffset}`);
          queueOffset = header.nextBeginOffset;
        }
      }
      const expected = Array.from({ length: count }, (_, n) => n).filter(passes);
      assert.deepEqual(
        found.sort((a, b) => a - b),
        expected,
        group,
      );
    }
  }

  const lives = new Map<TargetKind, Life>();

  /** A store that the broker of this kind wrote: with all three groups, then without one that is kept though nobody is in it. */
  async function lifeOf(kind: TargetKind): Promise<Life> {
    const known = lives.get(kind);
    if (known !== undefined) return known;
    const storeDir = folder();
    const life = { storeDir, target: await firstLife(kind, storeDir) };
    lives.set(kind, life);
    return life;
  }

  async function firstLife(kind: TargetKind, storeDir: string): Promise<Target> {
    const target = await start(kind, storeDir);
    await createTopic(target, topic, QUEUES);
    await fill(target, 0, 10);
    using client = await RawClient.connect(target.broker);
    for (let queueId = 0; queueId < QUEUES; queueId++)
      await until(
        async () => (await pull(client, { topic, queueId })).header.maxOffset === 5,
        'the first are dispatched',
      );
    await enter(target, storeDir, ['over', 'even', 'third']);
    await fill(target, 10, 60);
    await assertPulled(target, ['over', 'even', 'third'], 60);
    members.pop()![Symbol.dispose]();
    await fill(target, 60, 100);
    await assertPulled(target, ['over', 'even'], 100);
    await stop();
    return target;
  }

  it('have the bytes that the real broker computes for the same filters and messages, also for a group that left', async function () {
    if (defaultKind === 'jvm') this.skip();
    const { storeDir: theirs } = await lifeOf('jvm');
    const { storeDir: ours } = await lifeOf(defaultKind);
    const units = extUnits(ours);
    assert.equal(units.length, 100);
    assert.ok(units.filter((unit) => /[1-9a-f]/.test(unit.split(' ')[3] ?? '')).length > 60, 'bits are set');
    assert.deepEqual(units, extUnits(theirs));
    assert.deepEqual(
      [...filesBelow(join(ours, 'consumequeue', topic))].map(([name, bytes]) => [name, addresses(bytes)]),
      [...filesBelow(join(theirs, 'consumequeue', topic))].map(([name, bytes]) => [name, addresses(bytes)]),
    );
    assert.deepEqual(keptFilters(ours).plain, keptFilters(theirs).plain);
    assert.deepEqual(
      [...keptFilters(ours).times.values()].map(({ group, dead }) => `${group} ${dead}`).sort(),
      [...keptFilters(theirs).times.values()].map(({ group, dead }) => `${group} ${dead}`).sort(),
    );
  });

  for (const [first, second] of [
    ['jvm', defaultKind],
    [defaultKind, 'jvm'],
  ] as const)
    it(`go on when ${first} wrote the store and ${second} serves it: groups that come back are the same`, async function () {
      if (defaultKind === 'jvm') this.skip();
      const { storeDir, target: before } = await lifeOf(first);
      const kept = keptFilters(storeDir).times;
      assert.deepEqual([...kept.keys()].sort(), ['even', 'over', 'third']);
      const target = await start(second, storeDir, before);
      await routed(target, topic);
      await enter(target, storeDir, ['over', 'third']);
      await assertPulled(target, ['over', 'third'], 100);
      await fill(target, 100, 120);
      await assertPulled(target, ['over', 'third'], 120);
      await stop();
      const { times } = keptFilters(storeDir);
      for (const [group, { bornTime }] of kept) assert.equal(times.get(group)?.bornTime, bornTime, group);
      assert.equal(times.get('even')?.dead, true);
      const last = extUnits(storeDir).filter((unit) => unit.startsWith('0/'));
      assert.equal(last.length, 60);
      // Number 118 is even, over 40 and no third.
      assert.equal(last[59]?.split(' ')[3], bitmapOf(storeDir, ['over', 'even']));
    });
});

/** The bits of these groups together, as the kept filters say them. */
function bitmapOf(storeDir: string, names: readonly string[]): string {
  const { plain } = keptFilters(storeDir) as {
    plain: Record<string, { bloomFilterData: { bitNum: number; bitPos: number[] } }>;
  };
  const bitmap = Buffer.alloc((plain[names[0]!]?.bloomFilterData.bitNum ?? 0) / 8);
  for (const name of names)
    for (const bit of plain[name]?.bloomFilterData.bitPos ?? []) bitmap[bit >> 3]! |= 1 << (bit & 7);
  return bitmap.toString('hex');
}

/** What stands in the place of the tags codes, without the zeros behind the last unit. */
function addresses(units: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at < units.length && units.readInt32BE(at + 8) > 0; at += 20)
    found.push(units.toString('hex', at + 12, at + 20));
  return found;
}
