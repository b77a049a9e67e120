import { declarations } from '../../config/options.js';
import { ExitCode, KernelError } from '../../kernel/base/errors.js';
import { parseDelayLevels } from '../../store/dispatch/delay-levels.js';
import { checkOpenFiles } from './open-files.js';
import { CREATED_QUEUES, type Side } from './prepare.js';
import type { PullShape } from './pull-frames.js';
import type { DelayShape, MessageShape } from './send-frames.js';
import { STAMP_BYTES } from './tail-load.js';

export type LoadKind = 'produce' | 'batch' | 'consume' | 'latency' | 'transactions' | 'delays';

/** What commander collects for `kernel bench …`; which of them a load has is said where its flags are declared. */
export interface BenchFlags {
  readonly namesrvAddr: string;
  readonly broker?: string;
  readonly topic: string;
  readonly topics: number;
  readonly size?: number;
  readonly window?: number;
  readonly connections: number;
  readonly duration: number;
  readonly warm: number;
  readonly header: 'binary' | 'json';
  readonly queues?: number;
  readonly keys?: boolean;
  readonly properties?: number;
  /** Tags of messages, `A,B`; or with `consume` those to take, `A || B`. */
  readonly tags?: string;
  readonly sql?: string;
  readonly group?: string;
  readonly oneway?: boolean;
  readonly tail?: boolean;
  readonly rate?: number;
  readonly batch?: number;
  readonly pull?: number;
  readonly level?: number;
  readonly timer?: boolean;
  /** Seconds. */
  readonly delay?: number;
  readonly json?: string;
  readonly pid?: number;
  readonly peer?: string;
  readonly peerPid?: number;
  readonly turns?: number;
}

export interface BenchSettings {
  readonly kind: LoadKind;
  readonly side: Side & { readonly pid: number | undefined };
  /** A second broker that gets the same load in turn. */
  readonly peer: (Side & { readonly pid: number | undefined }) | undefined;
  readonly topic: string;
  /** More than one: names with a number each. */
  readonly topics: number;
  readonly shape: MessageShape;
  readonly pull: PullShape;
  readonly delay: DelayShape | undefined;
  /** Whether the load sends and reads the tail at the same time. */
  readonly tail: boolean;
  /** Messages per second of a load with `tail`; 0: as fast as it goes. */
  readonly perSecond: number;
  /** Requests in flight on each connection. */
  readonly window: number;
  readonly connections: number;
  /** Measured seconds of each run; 0 with `consume`: once through the backlog. */
  readonly seconds: number;
  readonly warmSeconds: number;
  readonly queues: number | undefined;
  /** Runs on each side. */
  readonly turns: number;
  readonly jsonFile: string | undefined;
}

const CONSUMER_GROUP = 'kernel-bench';
const DEFAULT_BODY_BYTES = 128;
const DEFAULT_WINDOW = 64;
const RATES: Readonly<Partial<Record<LoadKind, number>>> = { latency: 5000, delays: 10_000 };
const DEFAULT_LEVEL = 1;
const DEFAULT_TIMER_SECONDS = 5;
const HELD_MS = 15_000;

/** Throws KernelError for flags that do not go together. */
export function benchSettings(kind: LoadKind, flags: BenchFlags): BenchSettings {
  const tail = kind === 'latency' || kind === 'delays' || flags.tail === true;
  checkTogether(kind, tail, flags);
  checkOpenFiles(flags.connections);
  const direct = flags.broker !== undefined;
  const sends = kind === 'produce' || kind === 'batch' || kind === 'transactions';
  return {
    kind,
    side: { address: flags.broker ?? flags.namesrvAddr, direct, pid: flags.pid },
    peer: flags.peer === undefined ? undefined : { address: flags.peer, direct, pid: flags.peerPid },
    topic: flags.topic,
    topics: flags.topics,
    shape: {
      form: flags.header,
      bodyBytes: flags.size ?? DEFAULT_BODY_BYTES,
      perRequest: kind === 'batch' ? (flags.batch ?? 32) : 1,
      keys: flags.keys === true,
      tags: sends ? tagsIn(flags.tags) : [],
      properties: flags.properties ?? 0,
      oneWay: flags.oneway === true,
    },
    pull: {
      form: flags.header,
      group: flags.group ?? CONSUMER_GROUP,
      joins: flags.group !== undefined,
      perPull: flags.pull ?? 32,
      filter: sends ? ALL : filterOf(flags),
      suspendMs: tail ? HELD_MS : 0,
    },
    delay: kind === 'delays' ? delayOf(flags) : undefined,
    tail,
    perSecond: flags.rate ?? RATES[kind] ?? 0,
    window: flags.window ?? DEFAULT_WINDOW,
    connections: flags.connections,
    seconds: flags.duration,
    warmSeconds: flags.duration === 0 ? 0 : flags.warm,
    queues: flags.queues ?? ((sends || tail) && flags.topics > 1 ? CREATED_QUEUES : undefined),
    turns: flags.turns ?? (flags.peer === undefined ? 1 : 3),
    jsonFile: flags.json,
  };
}

/** NAME, or NAME-0000 … when there are several. */
export function topicNames({ topic, topics }: Pick<BenchSettings, 'topic' | 'topics'>): string[] {
  if (topics === 1) return [topic];
  return Array.from({ length: topics }, (_, index) => `${topic}-${String(index).padStart(4, '0')}`);
}

function wrong(message: string, remedy: string): KernelError {
  return new KernelError('BENCH_USAGE', message, { remedy, exitCode: ExitCode.usage });
}

function checkTogether(kind: LoadKind, tail: boolean, flags: BenchFlags): void {
  const filtered = kind === 'consume' && (flags.tags !== undefined || flags.sql !== undefined);
  if (flags.duration === 0 && (kind !== 'consume' || tail))
    throw wrong('a duration of 0 means once through the backlog', `give ${tail ? 'it' : kind} at least one second`);
  if (flags.tags !== undefined && flags.sql !== undefined)
    throw wrong('--tags and --sql are two filters', 'give one of them');
  if (tail && filtered) throw wrong('--tail reads what it sends, all of it', 'leave out --tags or --sql, or --tail');
  if (!tail && flags.rate !== undefined) throw wrong('--rate is the rate of what --tail sends', 'give --tail, too');
  if (!tail && kind === 'consume' && flags.size !== undefined)
    throw wrong('--size is the size of what --tail sends', 'give --tail, too');
  if (!tail && kind === 'consume' && flags.queues !== undefined)
    throw wrong('--queues creates the topic for what --tail sends', 'give --tail, too');
  if (tail && (flags.size ?? DEFAULT_BODY_BYTES) < STAMP_BYTES)
    throw wrong(`a body of ${flags.size} bytes has no place for a time`, `give at least ${STAMP_BYTES} bytes`);
}

/** What a level means a broker does not tell: without --delay it is taken for one of the usual ones. */
function delayOf({ level, timer, delay }: BenchFlags): DelayShape {
  if (timer === true) {
    if (level !== undefined) throw wrong('--timer and --level are two delays', 'give one of them');
    return { aheadMs: (delay ?? DEFAULT_TIMER_SECONDS) * 1000 };
  }
  const levels = parseDelayLevels(String(declarations.get('messageDelayLevel')!.default));
  const chosen = level ?? DEFAULT_LEVEL;
  const usual = levels[chosen - 1];
  if (delay === undefined && usual === undefined)
    throw wrong(`--level ${chosen} is beyond the ${levels.length} usual ones`, 'say with --delay what it means');
  return { level: chosen, aheadMs: delay === undefined ? usual! : delay * 1000 };
}

const ALL = { type: 'TAG', expression: '*' };

function filterOf({ tags, sql }: BenchFlags): PullShape['filter'] {
  if (sql !== undefined) return { type: 'SQL92', expression: sql };
  return tags === undefined ? ALL : { type: 'TAG', expression: tags };
}

function tagsIn(list: string | undefined): string[] {
  if (list === undefined) return [];
  const tags = list.split(',').map((tag) => tag.trim());
  if (tags.some((tag) => tag === '' || /[|\p{Cc}]/u.test(tag)))
    throw wrong(`${JSON.stringify(list)} is no list of tags`, 'write A,B,C');
  return tags;
}
