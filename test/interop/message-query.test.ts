import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'mocha';
import { until } from '../support/until.js';
import type { SendResult } from './support/driver.js';
import { createTopic, driver, mqadmin, numbered, patienceMs, routed, target, unique } from './support/suite.js';
import { defaultKind, startTarget, type Target, type TargetKind } from './support/target.js';

interface Found {
  readonly msgId: string;
  readonly queueId: number;
  readonly queueOffset: number;
}

/** What `mqadmin queryMsgByKey` lists, in its order. */
async function byKey(served: Target, topic: string, key: string): Promise<Found[]> {
  const [heading, ...rows] = await mqadmin(served, 'queryMsgByKey', '-t', topic, '-k', key);
  assert.match(heading ?? '', /^#Message ID +#QID +#Offset$/);
  return rows.map((row) => {
    const [msgId = '', queueId, queueOffset] = row.split(/ +/);
    return { msgId, queueId: Number(queueId), queueOffset: Number(queueOffset) };
  });
}

/** Messages are indexed a moment after they are acknowledged; Java's client throws while there is none. */
async function indexed(served: Target, topic: string, key: string, count: number): Promise<Found[]> {
  let found: Found[] = [];
  const there = async (): Promise<boolean> => {
    const printed = await (await driver()).mqadmin('queryMsgByKey', '-n', served.namesrv, '-t', topic, '-k', key);
    if (printed.err !== '') return false;
    found = await byKey(served, topic, key);
    return found.length >= count;
  };
  await until(there, `${count} messages with key ${key}`, patienceMs);
  return found;
}

function placeOf({ msgId, queue, queueOffset }: SendResult): Found {
  return { msgId, queueId: queue.queueId, queueOffset };
}

/** Ids, each once. */
const once = (found: readonly Found[]): string[] => [...new Set(found.map(({ msgId }) => msgId))];

describe('mqadmin of 4.9.7 asks for messages', () => {
  it('by key: those with the key among others, none of another topic or with another key of the same hash', async () => {
    const served = await target();
    const [topic, other] = [unique('asked'), unique('asked')];
    const [queue] = await createTopic(served, topic, 1);
    await createTopic(served, other, 1);
    const producer = await (await driver()).producer(served.namesrv);
    const sent: Found[] = [];
    for (const keys of ['order-1 Aa', 'order-2 BB', 'order-1'])
      sent.push(placeOf(await producer.send({ topic, body: keys, keys }, queue)));
    await producer.send({ topic: other, body: 'x', keys: 'order-1' });
    assert.deepEqual(await indexed(served, topic, 'order-1', 2), [sent[0], sent[2]]);
    assert.deepEqual(await byKey(served, topic, 'order-2'), [sent[1]]);
    // "Aa" and "BB" have the same hash.
    assert.deepEqual(await byKey(served, topic, 'BB'), [sent[1]]);
    const nobody = await (await driver()).mqadmin('queryMsgByKey', '-n', served.namesrv, '-t', topic, '-k', 'nobody');
    assert.match(nobody.err, /CODE: 208 .*query message by key finished, but no message/);
    await producer.close();
  });

  it('by unique key and by id: the whole message', async () => {
    const served = await target();
    const topic = unique('asked');
    await createTopic(served, topic, 1);
    const producer = await (await driver()).producer(served.namesrv);
    const body = '消息 🚀'.repeat(2000);
    const { msgId, offsetMsgId } = await producer.send({ topic, body, keys: 'k', tags: 'tag' });
    await indexed(served, topic, 'k', 1);
    for (const args of [
      ['queryMsgByUniqueKey', '-t', topic, '-i', msgId],
      ['queryMsgById', '-i', offsetMsgId],
    ] as const) {
      const printed = await (await driver()).mqadmin(args[0], '-n', served.namesrv, ...args.slice(1));
      const value = (name: string): string | undefined => new RegExp(`^${name}: +(.*)$`, 'm').exec(printed.out)?.[1];
      assert.deepEqual(
        ['Topic', 'Tags', 'Keys', 'Queue ID', 'Queue Offset'].map(value),
        [topic, '[tag]', '[k]', '0', '0'],
        `${args[0]}: ${printed.out} ${printed.err}`,
      );
    }
    await producer.close();
  });
});

describe('an index folder moves', function () {
  this.timeout(240_000);
  let storeDir: string | undefined;
  let served: Target | undefined;

  afterEach(async () => {
    await served?.stop();
    served = undefined;
    if (storeDir !== undefined) rmSync(storeDir, { recursive: true, force: true });
  });

  it('from our broker to the real one and back', () => moves([defaultKind, 'jvm', defaultKind]));

  it('from the real broker to ours and back', function () {
    if (defaultKind === 'jvm') this.skip();
    return moves(['jvm', defaultKind, 'jvm']);
  });

  it('from our broker, killed, to the real one and back: nothing is missing', () =>
    moves([defaultKind, 'jvm', defaultKind], 'kill9'));

  async function moves(kinds: readonly TargetKind[], end: 'stop' | 'kill9' = 'stop'): Promise<void> {
    storeDir = mkdtempSync(join(tmpdir(), 'mqkernel-store-'));
    const topic = unique('moved');
    // Seven messages fill a file: their unique keys and two keys each.
    const options = { maxHashSlotNum: 5, maxIndexNum: 22 };
    const sent: Found[] = [];
    let before: Target | undefined;
    for (const kind of kinds) {
      served = await startTarget({ kind, storeDir, options, ...(before ? { sameAddressesAs: before } : {}) });
      if (before === undefined) await createTopic(served, topic, 2);
      else await routed(served, topic);
      for (const key of [0, 9, 12].filter((each) => each < sent.length))
        assert.deepEqual(once(await byKey(served, topic, `k${key}`)), [sent[key]?.msgId], `${kind}: k${key}`);
      const producer = await (await driver()).producer(served.namesrv);
      for (const message of numbered(topic, 10, sent.length))
        sent.push(placeOf(await producer.send({ ...message, keys: `${message.keys} all` })));
      await producer.close();
      const all = await indexed(served, topic, 'all', sent.length);
      assert.deepEqual(once(all).sort(), sent.map(({ msgId }) => msgId).sort());
      if (end === 'stop') assert.equal(all.length, sent.length);
      await served[end]();
      before = served;
      served = undefined;
    }
    // After a crash 4.9 indexes the last record that its index has once more.
    if (end === 'kill9') return;
    // 30 messages with three keys each, 21 to a file: nothing is there twice.
    assert.equal(readdirSync(join(storeDir, 'index')).length, Math.ceil((30 * 3) / 21));
  }
});
