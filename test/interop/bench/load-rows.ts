import { clientLoad } from './client-load.js';
import type { PairWish } from './brokers.js';
import type { Goal } from './figures.js';
import { benchOne, benchPair, type BenchCommand } from './kernel-bench.js';
import { figureOf, loadFigures, type Row, type Scene } from './row.js';

const WARM_SECONDS = 3;
const atLeast = (ratio: number, stretch?: number): Goal => ({ kind: 'atLeast', ratio, stretch });
const atMost = (ratio: number, stretch?: number): Goal => ({ kind: 'atMost', ratio, stretch });
const cpuGoal = atMost(0.5, 0.35);

export const sendFamilies = { binary: 'send 128 B, 64 in flight, binary', json: 'send 128 B, 64 in flight, JSON' };
/** Of the best topology in each family. */
export const bestTopologyGoal = atLeast(2.5, 3);

type SendRow = Row & { readonly wish: PairWish };

function sendRow(name: string, header: keyof typeof sendFamilies, topology: 'dedicated' | 'fused' | 'paired'): SendRow {
  const family = { name: sendFamilies[header], topology };
  const wish: PairWish = { topology };
  const dedicated = topology === 'dedicated';
  return {
    name,
    wish,
    about: `single sends, ${header} headers, topology ${topology}`,
    async run(scene) {
      const args = ['-t', `peer-${name}`, '--queues', '8', '-s', '128', '-w', '64', '--header', header];
      const runs = await inTurns(scene, name, 'produce', args, wish);
      const goal = dedicated ? atLeast(2, 2.5) : undefined;
      return loadFigures(`${family.name}, ${topology}`, runs, { goal, family }, dedicated ? cpuGoal : undefined);
    },
  };
}

/** A load of `kernel bench` that needs nothing but its flags. */
function plainRow(
  name: string,
  kind: 'produce' | 'batch',
  args: readonly string[],
  load: string,
  goal: Goal,
  wish: PairWish = {},
): Row {
  return {
    name,
    about: load,
    async run(scene) {
      const runs = await inTurns(scene, name, kind, ['-t', `peer-${name}`, '--queues', '8', ...args], wish);
      return loadFigures(load, runs, { goal });
    },
  };
}

const consume: Row = {
  name: 'consume',
  about: 'pulls of a backlog that batches left, 8 queues',
  async run(scene) {
    const pair = await scene.brokers.pair();
    const fill = ['-t', 'peer-consume', '--queues', '8', '-s', '128', '-w', '16'];
    for (const side of [pair.ours, pair.theirs])
      await benchOne({ kind: 'batch', args: fill, seconds: scene.settings.seconds, warmSeconds: 0 }, side);
    const runs = await inTurns(scene, 'consume', 'consume', ['-t', 'peer-consume']);
    return loadFigures('consume a backlog, pulls of 32', runs, { goal: atLeast(1.5) }, cpuGoal);
  },
};

const latency: Row = {
  name: 'latency',
  about: 'end to end at 5,000 messages a second',
  async run(scene) {
    const args = ['-t', 'peer-latency', '--queues', '8', '-s', '128', '--rate', '5000'];
    const runs = await inTurns(scene, 'latency', 'latency', args);
    const load = 'end to end at 5,000/s';
    return [
      figureOf(`${load}, p50`, 'µs', runs, (run) => run.latencyMicros.p50),
      figureOf(`${load}, p99`, 'µs', runs, (run) => run.latencyMicros.p99, { goal: atMost(0.5) }),
      figureOf(`${load}, p99.9`, 'µs', runs, (run) => run.latencyMicros.p999, { goal: atMost(0.5) }),
      figureOf(`${load}, broker CPU per message`, 'µs', runs, (run) => run.broker?.cpuMicrosPerMessage),
    ];
  },
};

function clientRow(name: string, bodyBytes: number, size: string): Row {
  const load = `RocketMQ's Java client, 64 threads, sync, ${size}`;
  return {
    name,
    about: load,
    async run({ brokers, settings: { seconds, turns } }) {
      const runs = await clientLoad({ topic: `peer-${name}`, bodyBytes, seconds, turns }, await brokers.pair());
      const cpu = (side: string): number[] =>
        runs.flatMap((run) => (run.side === side ? [run.clientCpuMicrosPerMessage] : []));
      return [
        ...loadFigures(load, runs, { goal: atLeast(2) }),
        { load: `${load}, the client's own CPU per message`, unit: 'µs', a: cpu('A'), b: cpu('B') },
      ];
    },
  };
}

/** Rows that want the same brokers stand together. */
export const loadRows: readonly Row[] = [
  sendRow('produce', 'binary', 'dedicated'),
  sendRow('produce-json', 'json', 'dedicated'),
  plainRow('batch', 'batch', ['-s', '128', '-w', '16', '--batch', '32'], 'batch of 32, 16 in flight', atLeast(2.5)),
  consume,
  latency,
  plainRow('topics', 'produce', ['-s', '128', '-w', '64', '--topics', '1000'], '1,000 topics × 8 queues', atLeast(2)),
  clientRow('java-128', 128, '128 B'),
  clientRow('java-1k', 1024, '1 KiB'),
  sendRow('produce-fused', 'binary', 'fused'),
  sendRow('produce-json-fused', 'json', 'fused'),
  sendRow('produce-paired', 'binary', 'paired'),
  sendRow('produce-json-paired', 'json', 'paired'),
  plainRow('sync', 'produce', ['-s', '128', '-w', '64'], 'SYNC_FLUSH, 64 in flight', atLeast(2), {
    options: { flushDiskType: 'SYNC_FLUSH' },
  }),
];

async function inTurns(
  { brokers, settings }: Scene,
  name: string,
  kind: BenchCommand['kind'],
  args: readonly string[],
  wish?: PairWish,
) {
  const { seconds, turns, json } = settings;
  return benchPair({ kind, args, seconds, warmSeconds: WARM_SECONDS, turns }, await brokers.pair(wish), name, json);
}
