import { clientLoad } from './client-load.js';
import type { PairWish } from './brokers.js';
import type { Goal } from './figures.js';
import { benchOne, benchPair, type BenchCommand } from './kernel-bench.js';
import { delayRows } from './delay-rows.js';
import { figureOf, loadFigures, type Row, type Scene } from './row.js';

const WARM_SECONDS = 3;
const atLeast = (ratio: number, stretch?: number): Goal => ({ kind: 'atLeast', ratio, stretch });
const atMost = (ratio: number, stretch?: number): Goal => ({ kind: 'atMost', ratio, stretch });
const cpuGoal = atMost(0.5, 0.35);

export const sendFamilies = { binary: 'send 128 B, 64 in flight, binary', json: 'send 128 B, 64 in flight, JSON' };
/** Of the best topology in each family. */
export const bestTopologyGoal = atLeast(2.5, 3);

function sendRow(name: string, header: keyof typeof sendFamilies, topology: 'dedicated' | 'fused' | 'paired'): Row {
  const family = { name: sendFamilies[header], topology };
  const wish: PairWish = { topology };
  const dedicated = topology === 'dedicated';
  return {
    name,
    about: `single sends, ${header} headers, topology ${topology}`,
    async run(scene) {
      const args = ['-t', `peer-${name}`, '--queues', '8', '-s', '128', '-w', '64', '--header', header];
      const runs = await inTurns(scene, name, 'produce', args, wish);
      const goal = dedicated ? atLeast(2, 2.5) : undefined;
      return loadFigures(`${family.name}, ${topology}`, runs, { goal, family }, dedicated ? cpuGoal : undefined);
    },
  };
}

interface PlainLoad {
  readonly name: string;
  readonly kind: 'produce' | 'batch' | 'transactions';
  readonly args: readonly string[];
  readonly load: string;
  readonly goal: Goal;
  readonly wish?: PairWish;
  readonly warmSeconds?: number;
}

/** A load of `kernel bench` that needs nothing but its flags. */
function plainRow({ name, kind, args, load, goal, wish, warmSeconds }: PlainLoad): Row {
  return {
    name,
    about: load,
    async run(scene) {
      const all = ['-t', `peer-${name}`, '--queues', '8', '-s', '128', ...args];
      const runs = await inTurns(scene, name, kind, all, wish, warmSeconds);
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

/** A transaction counts as one message. */
function transactionRow(name: string, connections: number): Row {
  return plainRow({
    name,
    kind: 'transactions',
    args: ['-w', '64', '-c', String(connections)],
    load: `transactions of 128 B (half and commit), ${connections === 1 ? '' : `${connections} × `}64 open`,
    goal: atLeast(1.5),
  });
}

/** Rows that want the same brokers stand together. */
export const loadRows: readonly Row[] = [
  sendRow('produce', 'binary', 'dedicated'),
  sendRow('produce-json', 'json', 'dedicated'),
  plainRow({
    name: 'batch',
    kind: 'batch',
    args: ['-w', '16', '--batch', '32'],
    load: 'batch of 32, 16 in flight',
    goal: atLeast(2.5),
  }),
  consume,
  latency,
  transactionRow('transactions', 1),
  transactionRow('transactions-4', 4),
  clientRow('java-128', 128, '128 B'),
  clientRow('java-1k', 1024, '1 KiB'),
  sendRow('produce-fused', 'binary', 'fused'),
  sendRow('produce-json-fused', 'json', 'fused'),
  sendRow('produce-paired', 'binary', 'paired'),
  sendRow('produce-json-paired', 'json', 'paired'),
  plainRow({
    name: 'sync',
    kind: 'produce',
    args: ['-w', '64'],
    load: 'SYNC_FLUSH, 64 in flight',
    goal: atLeast(2),
    wish: { options: { flushDiskType: 'SYNC_FLUSH' } },
  }),
  ...delayRows,
  plainRow({
    name: 'topics',
    kind: 'produce',
    args: ['-w', '64', '--topics', '1000'],
    load: '1,000 topics × 8 queues',
    goal: atLeast(2),
    // The first messages make 8,000 queues, which a broker goes on to write back: the last row, after which nothing is measured.
    warmSeconds: 12,
  }),
];

async function inTurns(
  { brokers, settings }: Scene,
  name: string,
  kind: BenchCommand['kind'],
  args: readonly string[],
  wish?: PairWish,
  warmSeconds = WARM_SECONDS,
) {
  const { seconds, turns, json } = settings;
  return benchPair({ kind, args, seconds, warmSeconds, turns }, await brokers.pair(wish), name, json);
}
