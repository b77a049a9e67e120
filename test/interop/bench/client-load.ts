import { runJava } from '../support/java.js';
import type { Target } from '../support/target.js';
import type { Pair } from './brokers.js';

/** The same for both sides: a heap that does not grow while it measures. */
const clientFlags = ['-Xms512m', '-Xmx512m', '-XX:+UseG1GC'] as const;
/** Its own compiler needs so long; mqk.ClientLoad sends meanwhile. */
const WARM_SECONDS = 10;
const THREADS = 64;
const END_MS = 60_000;

export interface ClientLoadWish {
  readonly topic: string;
  readonly bodyBytes: number;
  readonly seconds: number;
  readonly turns: number;
}

export interface ClientRun {
  readonly side: 'A' | 'B';
  readonly messagesPerSecond: number;
  readonly latencyMicros: { readonly p50: number; readonly p99: number; readonly p999: number };
  /** By the exception's name, or the status that is not SEND_OK. */
  readonly errors: Readonly<Record<string, number>>;
  /** What the client itself takes of the machine's cores. */
  readonly clientCpuMicrosPerMessage: number;
  readonly broker: { readonly cpuMicrosPerMessage: number; readonly rssAnonMebibytes: number };
}

/** RocketMQ's own client in turns (A B A B), each time in a JVM of its own. */
export async function clientLoad(wish: ClientLoadWish, { ours, theirs }: Pair): Promise<ClientRun[]> {
  const runs: ClientRun[] = [];
  for (let turn = 0; turn < wish.turns; turn++)
    for (const [side, target] of [['A', ours] as const, ['B', theirs] as const])
      runs.push({ side, ...(await oneRun(wish, target)) });
  return runs;
}

async function oneRun({ topic, bodyBytes, seconds }: ClientLoadWish, target: Target): Promise<Omit<ClientRun, 'side'>> {
  const args = [target.namesrv, topic, THREADS, bodyBytes, WARM_SECONDS, seconds, target.brokerPid].map(String);
  process.stdout.write(`$ java ${clientFlags.join(' ')} -cp … mqk.ClientLoad ${args.join(' ')}\n`);
  const timeoutMs = (WARM_SECONDS + seconds) * 1000 + END_MS;
  const { code, stdout, stderr } = await runJava('mqk.ClientLoad', args, { timeoutMs, flags: clientFlags });
  const line = stdout.trimEnd().split('\n').at(-1) ?? '';
  if (code !== 0 || !line.startsWith('{')) throw new Error(`mqk.ClientLoad ended with ${code}\n${stdout}${stderr}`);
  process.stdout.write(`  ${line}\n`);
  return JSON.parse(line) as Omit<ClientRun, 'side'>;
}
