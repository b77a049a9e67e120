import assert from 'node:assert/strict';
import { Offsets } from '../../../plugins/offsets/contract.js';
import { decodeConsumeTimeSpans } from '../../../protocol/bodies/consume-time-span.js';
import { decodeCorrectionOffsets } from '../../../protocol/bodies/reset-offset.js';
import { FakeClock } from '../../support/fake-clock.js';
import type { RawClient } from '../../support/raw-client.js';
import { heartbeat, pullAll, send, subscriptionTo } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';

describe('administration of committed offsets', () => {
  const clock = new FakeClock();
  const begun = clock.wallMs();
  let broker: TestBroker;
  let client: RawClient;
  let offsets: Offsets;

  /** T has four queues: 0 holds three messages, 1 one, 100 ms apart. */
  beforeEach(async () => {
    clock.stepWall(begun - clock.wallMs());
    broker = await testBroker({ clock });
    client = await broker.connect();
    offsets = broker.get(Offsets);
    for (const queueId of [0, 0, 0, 1]) {
      await send(client, { queueId });
      clock.advance(100);
    }
    await send(client, { topic: 'U' });
    await pullAll(client, 3);
    await pullAll(client, 1, { queueId: 1 });
    await pullAll(client, 1, { topic: 'U' });
  });

  afterEach(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  const of = (group: string, topic = 'T'): [number, number][] => [...(offsets.ofTopic(group, topic) ?? [])];

  it('303: when what is there, and what a group took last, was stored; how old its next message is', async () => {
    const spans = async (group: string): Promise<number[][]> => {
      const { code, body } = await client.ask(303, { ext: { topic: 'T', group } });
      assert.equal(code, 0);
      return decodeConsumeTimeSpans(body)
        .sort((a, b) => a.messageQueue.queueId - b.messageQueue.queueId)
        .map((span) => [span.minTimeStamp, span.maxTimeStamp, span.consumeTimeStamp, span.delayTime]);
    };
    offsets.commit('test', 'G', 'T', 0, 2);
    offsets.commit('test', 'G', 'T', 1, 1);
    const empty = [-1, -1, -1, 0];
    assert.deepEqual(await spans('G'), [
      [begun, begun + 200, begun + 100, 200],
      [begun + 300, begun + 300, begun + 300, 0],
      empty,
      empty,
    ]);
    assert.deepEqual((await spans('New'))[0], [begun, begun + 200, begun, 400]);
    const unknown = await client.ask(303, { ext: { topic: 'Unknown', group: 'G' } });
    assert.deepEqual([unknown.code, unknown.remark], [17, 'topic[Unknown] not exist']);
  });

  it('308: the smallest offset of all groups by queue, without the filtered ones, which keep theirs', async () => {
    const ask = async (filterGroups?: string): Promise<[number, number][]> => {
      const ext: Record<string, string> = { topic: 'T', compareGroup: 'A' };
      if (filterGroups !== undefined) ext['filterGroups'] = filterGroups;
      const { code, body } = await client.ask(308, { ext });
      assert.equal(code, 0);
      return [...decodeCorrectionOffsets(body)];
    };
    offsets.commit('test', 'A', 'T', 0, 3);
    offsets.commit('test', 'B', 'T', 0, 2);
    offsets.commit('test', 'C', 'T', 0, 1);
    offsets.commit('test', 'C', 'T', 1, 1);
    offsets.commit('test', 'C', 'U', 0, 0);
    assert.deepEqual(await ask(), [
      [0, 1],
      [1, 1],
    ]);
    assert.deepEqual(await ask('C,X'), [[0, 2]]);
    assert.deepEqual(of('C').length, 2, '4.9.7 forgets them');
  });

  it('314: one topic or all; topics that members do not subscribe to only when they are said to be offline', async () => {
    offsets.commit('test', 'Src', 'T', 0, 2);
    offsets.commit('test', 'Src', 'T', 1, 1);
    offsets.commit('test', 'Src', 'U', 0, 1);
    offsets.commit('test', 'Src', 'Gone', 0, 1);
    const clone = (destGroup: string, more = {}) =>
      client.ask(314, { ext: { srcGroup: 'Src', destGroup, offline: 'false', ...more } });
    assert.equal((await clone('One', { topic: 'T' })).code, 0);
    assert.deepEqual(
      [of('One'), of('One', 'U')],
      [
        [
          [0, 2],
          [1, 1],
        ],
        [],
      ],
    );
    await clone('All');
    assert.deepEqual(offsets.topicsOf('All').sort(), ['T', 'U']);
    await heartbeat(client, 'Src', [subscriptionTo('U')]);
    await clone('Live');
    assert.deepEqual(offsets.topicsOf('Live'), ['U']);
    await clone('Off', { offline: 'true' });
    assert.deepEqual(offsets.topicsOf('Off').sort(), ['T', 'U']);
    assert.equal((await clone('Nothing', { topic: 'Unknown' })).code, 0);
  });

  it('314, B32: refuses a group that cannot be one', async () => {
    offsets.commit('test', 'Src', 'T', 0, 2);
    for (const destGroup of ['../../x', 'g/h', 'x'.repeat(121)]) {
      const { code, remark } = await client.ask(314, { ext: { srcGroup: 'Src', destGroup, offline: 'false' } });
      assert.equal(code, 1, destGroup);
      assert.match(remark ?? '', /group/);
    }
    assert.deepEqual(offsets.groupsOf('T'), ['Src']);
  });
});
