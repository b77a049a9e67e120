import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../kernel/base/clock.js';
import { RequestCode } from '../../protocol/codes.js';
import { RawClient } from '../support/raw-client.js';
import { SeededRandom } from '../support/seeded-random.js';
import { requireJava } from './support/java.js';
import { kernelMain } from './support/servers.js';
import { endLivingServers, startNameServer, startTarget, type NameServer, type TargetKind } from './support/target.js';

const brokerJvmFlags = ['-Xms2g', '-Xmx2g', '-XX:+UseG1GC', '-XX:MaxDirectMemorySize=2g'];
/** 4.9's defaults, which the suite's small stores do not use. */
const options = { mappedFileSizeCommitLog: 1024 ** 3, maxHashSlotNum: 5_000_000, maxIndexNum: 20_000_000 };
const TOPIC = 'bench-store';
const usage = 'usage: npm run bench:store -- [--megabytes 1024] [--turns 3] [--messages 10000000]\n';

interface Settings {
  /** Size of the commit log that is recovered. */
  readonly megabytes: number;
  readonly turns: number;
  /** Messages in the index for the queries; 0 leaves them out. */
  readonly messages: number;
}

/** How long both brokers take to serve again on copies of one crash image, with and without queues and index; key queries. */
async function main(): Promise<void> {
  const settings = settingsFrom(process.argv.slice(2));
  if (settings === undefined) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  requireJava();
  const folder = mkdtempSync(join(tmpdir(), 'mqkernel-bench-store-'));
  try {
    const image = join(folder, 'image');
    await fill(image, settings.megabytes);
    await restarts(image, folder, settings.turns, 'serving again after kill -9', () => undefined);
    await restarts(image, folder, settings.turns, 'queues and index built again', withoutQueues);
    if (settings.messages > 0) await queries(join(folder, 'many'), settings.messages);
  } finally {
    await endLivingServers();
    rmSync(folder, { recursive: true, force: true });
  }
}

function settingsFrom(args: string[]): Settings | undefined {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({ args, options: { megabytes: text, turns: text, messages: text } });
    const { megabytes = '1024', turns = '3', messages = '10000000' } = values;
    const numbers = [megabytes, turns, messages].map((value) => (/^\d{1,9}$/.test(value) ? Number(value) : Number.NaN));
    if (numbers.some(Number.isNaN)) return undefined;
    return { megabytes: numbers[0]!, turns: numbers[1]!, messages: numbers[2]! };
  } catch {
    return undefined;
  }
}

/** The original writes the image and is killed, so that both find a directory that is not of their own making. */
async function fill(storeDir: string, megabytes: number): Promise<void> {
  const target = await startTarget({ kind: 'jvm', options, storeDir, jvmFlags: brokerJvmFlags });
  const bytes = (): Promise<number> => logBytes(target.broker);
  while ((await bytes()) < megabytes * 2 ** 20)
    await produce(target.namesrv, ['-s', '1024', '--queues', '8', '--keys', '-d', '2']);
  process.stdout.write(`image: ${Math.round((await bytes()) / 2 ** 20)} MiB of 1-KiB messages with keys\n`);
  await target.kill9();
}

async function logBytes(broker: string): Promise<number> {
  using client = await RawClient.connect(broker);
  const { code, body } = await client.ask(RequestCode.GET_BROKER_RUNTIME_INFO);
  // The original fails to tell while its store is empty.
  if (code !== 0) return 0;
  const { table } = JSON.parse(body.toString()) as { table: Record<string, string> };
  return Number(table['commitLogMaxOffset']);
}

function produce(namesrv: string, args: readonly string[]): Promise<void> {
  const all = [kernelMain, 'bench', 'produce', '-n', namesrv, '-t', TOPIC, '--warm', '0', ...args];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, all, { stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`kernel bench ended with ${code}`))));
  });
}

/** As an operator would who wants them built from the log. */
function withoutQueues(storeDir: string): void {
  for (const name of ['consumequeue', 'index', 'checkpoint'])
    rmSync(join(storeDir, name), { recursive: true, force: true });
  writeFileSync(join(storeDir, 'abort'), '');
}

async function restarts(
  image: string,
  folder: string,
  turns: number,
  what: string,
  change: (storeDir: string) => void,
): Promise<void> {
  const namesrv = await startNameServer('kernel');
  const took: Record<TargetKind, number[]> = { kernel: [], jvm: [] };
  try {
    for (let turn = 0; turn < turns; turn++)
      for (const kind of ['kernel', 'jvm'] as const)
        took[kind].push(await restart(kind, image, folder, namesrv, change));
  } finally {
    await namesrv.stop();
  }
  process.stdout.write(`\n== ${what} ==\n`);
  for (const kind of ['kernel', 'jvm'] as const)
    process.stdout.write(`${kind}: median ${median(took[kind])} ms of ${took[kind].join(', ')}\n`);
}

async function restart(
  kind: TargetKind,
  image: string,
  folder: string,
  namesrv: NameServer,
  change: (storeDir: string) => void,
): Promise<number> {
  const storeDir = join(folder, 'copy');
  // Files are mostly holes, and a copy without them would not be what a broker left behind.
  execFileSync('cp', ['-r', '--sparse=always', image, storeDir]);
  // A broker syncs as it goes: what it leaves behind is on disk but for the last half second.
  execFileSync('sync', ['-f', storeDir]);
  change(storeDir);
  const began = systemClock.monoMs();
  const target = await startTarget({ kind, options, storeDir, namesrv: namesrv.address, jvmFlags: brokerJvmFlags });
  const ms = Math.round(systemClock.monoMs() - began);
  await target.kill9();
  rmSync(storeDir, { recursive: true, force: true });
  return ms;
}

/** One unique key after the other, spread over all messages; both brokers on the same directory. */
async function queries(storeDir: string, messages: number): Promise<void> {
  const filler = await startTarget({ kind: 'kernel', options, storeDir });
  let stored = 0;
  while (stored < messages) {
    await produce(filler.namesrv, ['-s', '16', '--queues', '8', '-d', '10']);
    stored = await storedMessages(filler.broker);
  }
  await filler.stop();
  process.stdout.write(`\n== a query by unique key, ${stored} messages ==\n`);
  for (const kind of ['kernel', 'jvm'] as const) {
    const target = await startTarget({ kind, options, storeDir, jvmFlags: brokerJvmFlags });
    try {
      process.stdout.write(`${kind}: ${await queryAll(target.broker, messages)}\n`);
    } finally {
      await target.stop();
    }
  }
}

async function storedMessages(broker: string): Promise<number> {
  using client = await RawClient.connect(broker);
  let sum = 0;
  for (let queueId = 0; queueId < 8; queueId++) {
    const { ext } = await client.ask(RequestCode.GET_MAX_OFFSET, { ext: { topic: TOPIC, queueId: String(queueId) } });
    sum += Number(ext['offset']);
  }
  return sum;
}

async function queryAll(broker: string, messages: number): Promise<string> {
  using client = await RawClient.connect(broker);
  const random = new SeededRandom(1);
  const times: number[] = [];
  let missed = 0;
  for (let n = 0; n < 1000; n++) {
    const key = `7F0000010F0F18B4AAC20000${random
      .below(messages / 20)
      .toString(16)
      .toUpperCase()
      .padStart(8, '0')}`;
    const ext = {
      topic: TOPIC,
      key,
      maxNum: '32',
      beginTimestamp: '0',
      endTimestamp: String(2 ** 52),
      _UNIQUE_KEY_QUERY: 'true',
    };
    const began = systemClock.monoMs();
    const { code } = await client.ask(RequestCode.QUERY_MESSAGE, { ext });
    times.push(systemClock.monoMs() - began);
    if (code !== 0) missed++;
  }
  const sorted = [...times].sort((a, b) => a - b);
  return `median ${sorted[500]!.toFixed(2)} ms, p99 ${sorted[990]!.toFixed(2)} ms, ${missed} of 1000 not found`;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
