import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { Topology } from '../../../config/topology.js';
import { dedicated } from '../../../config/topologies/dedicated.js';
import { coarseBetween, parseCoarse, summaryOf, type CoarseCounts } from '../../../kernel/base/coarse-histogram.js';
import { systemClock } from '../../../kernel/base/clock.js';
import type { ThreadHost } from '../../../kernel/threads/contract.js';
import { decodeKVTable } from '../../../protocol/bodies/kv-table.js';
import { RequestCode } from '../../../protocol/codes.js';
import type { AppendGate, StoreState } from '../../../plugins/commitlog/contract.js';
import type { FilterRegistry } from '../../../plugins/filter/contract.js';
import { ProcessGauges } from '../../../plugins/gauges/main.js';
import type { RawClient } from '../../support/raw-client.js';
import { send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

async function figures(client: RawClient): Promise<Map<string, string>> {
  const { body } = await client.ask(RequestCode.GET_BROKER_RUNTIME_INFO);
  return new Map([...decodeKVTable(body)].filter(([key]) => key.startsWith('kernel.')));
}

const pairs = (text: string): Map<string, number> =>
  new Map(
    text
      .split(' ')
      .map((pair) => pair.split('=') as [string, string])
      .map(([name, value]) => [name, Number(value)]),
  );

const countOf = ({ buckets }: CoarseCounts): number => [...buckets.values()].reduce((sum, count) => sum + count, 0);

describe('gauges in runtime information (28)', () => {
  const placed: Readonly<Record<string, Topology>> = {
    dedicated,
    shared: { ...dedicated, flush: 'writer', commitlog: 'writer', reput: 'main' },
  };
  const threads = {
    dedicated: ['main', 'commitlog', 'flush', 'reput', 'schedule'],
    shared: ['main', 'writer', 'schedule'],
  };

  for (const name of ['dedicated', 'shared'] as const)
    it(`names the threads and counts the wake-ups of each (${name})`, async () => {
      using dir = tempDir();
      await using broker = await testBroker({
        topology: placed[name]!,
        options: { storePathRootDir: dir.path, mappedFileSizeCommitLog: 1 << 20 },
      });
      using client = await broker.connect();
      const before = await figures(client);
      assert.deepEqual([...before.keys()].sort(), [
        'kernel.filterBlocks',
        'kernel.filterFaults',
        'kernel.loopDelayMicros',
        'kernel.ringBytes',
        'kernel.ringUnits',
        'kernel.threads',
        'kernel.wakeUps',
      ]);
      assert.deepEqual([...pairs(before.get('kernel.wakeUps')!).keys()].sort(), [...threads[name]].sort());
      if (existsSync('/proc/thread-self')) {
        const ids = pairs(before.get('kernel.threads')!);
        assert.deepEqual([...ids.keys()].sort(), [...threads[name]].sort());
        for (const id of ids.values()) assert.ok(existsSync(`/proc/self/task/${id}`));
      }
      const wakeUps = async (): Promise<Map<string, number>> => pairs((await figures(client)).get('kernel.wakeUps')!);
      const writer = threads[name][1]!;
      await until(async () => {
        await send(client);
        const now = await wakeUps();
        return [writer, 'main'].every((thread) => now.get(thread)! > pairs(before.get('kernel.wakeUps')!).get(thread)!);
      }, 'sends wake the writer, and the writer the network thread');
    });

  it('sees how late the loop is', async () => {
    await using broker = await testBroker();
    using client = await broker.connect();
    const delays = async (): Promise<CoarseCounts> =>
      parseCoarse((await figures(client)).get('kernel.loopDelayMicros')!);
    await until(async () => countOf(await delays()) > 0, 'a first sample');
    const before = await delays();
    const end = systemClock.monoMs() + 60;
    while (systemClock.monoMs() < end) void 0;
    await until(async () => coarseBetween(before, await delays()).sum >= 40_000, 'a held loop shows');
  });

  it('sees what lies in the ring', async () => {
    const gate = { ringUnits: 0, ringBytes: 0 };
    const threads = { figures: () => [{ name: 'main', linuxId: undefined, wakeUps: 2 ** 32 - 1 }] };
    const store = { wake: { wakeUps: 3 } };
    const gauges = new ProcessGauges(
      systemClock,
      threads as unknown as ThreadHost,
      store as unknown as StoreState,
      gate as unknown as AppendGate,
      {
        faults: new Map([['moody', 8]]),
        blocks: new Map([
          ['moody', 1],
          ['slow', 2],
        ]),
      } as unknown as FilterRegistry,
    );
    gauges.open();
    const read = (key: string): CoarseCounts => parseCoarse(gauges.table().get(key)!);
    await until(() => countOf(read('kernel.ringUnits')) > 0, 'samples of an empty ring');
    Object.assign(gate, { ringUnits: 2, ringBytes: 300 });
    await until(() => read('kernel.ringUnits').sum >= 6, 'samples of the ring');
    gauges.close();
    const units = summaryOf(read('kernel.ringUnits'))!;
    assert.equal(units.max, 2);
    assert.equal(read('kernel.ringBytes').sum, read('kernel.ringUnits').sum * 150);
    assert.equal(gauges.table().get('kernel.wakeUps'), 'main=2', 'both bells, modulo 2^32');
    assert.equal(gauges.table().get('kernel.filterFaults'), 'moody=8');
    assert.equal(gauges.table().get('kernel.filterBlocks'), 'moody=1 slow=2');
    assert.equal(gauges.table().get('kernel.threads'), '', 'without /proc there are none');
  });
});
