import { readFileSync } from 'node:fs';
import { processStats } from '../../../cli/bench/process-stats.js';
import { encodeHeartbeat } from '../../../protocol/bodies/heartbeat.js';
import { RequestCode } from '../../../protocol/codes.js';
import { RawClient } from '../../support/raw-client.js';
import { consumerOf, subscriptionTo } from '../../support/send-pull.js';
import { until } from '../../support/until.js';
import type { Target } from '../support/target.js';

const TOLD_DEADLINE_MS = 60_000;
const MEBIBYTE = 2 ** 20;

export interface CrowdWish {
  readonly clients: number;
  readonly groups: number;
  readonly topicsPerGroup: number;
  /** Clients ask who is in the group (38) when they are told that it changed, as those of RocketMQ do. */
  readonly ask: boolean;
  /** Registrations a second while the crowd comes, and heartbeats a second afterwards. */
  readonly perSecond: number;
  readonly steadySeconds: number;
}

/** A broker: `host:port` and its process. */
export type Served = Pick<Target, 'broker' | 'brokerPid'>;

export interface CrowdFigures {
  readonly subscriptions: number;
  readonly comeSeconds: number;
  readonly comeMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly steadyMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly notifications: number;
  /** From the last join until the last client was told of its group as it is. */
  readonly toldSeconds: number;
  readonly rssMebibytes: number;
  readonly cpuSecondsComing: number;
  readonly failedAsks: number;
  readonly bytesReadMebibytes: number;
}

/** Lets a crowd of clients join, waits until all know of each other, and keeps them alive for a while. */
export async function crowd(wish: CrowdWish, target: Served): Promise<CrowdFigures> {
  const cpuBefore = processStats(target.brokerPid)?.cpuMicros ?? 0;
  const members = Array.from({ length: wish.clients }, (_, index) => new CrowdMember(index, wish));
  const began = performance.now();
  const come = await paced(wish.clients, wish.perSecond, (i) => members[i]?.join(target.broker));
  const joined = performance.now();
  await until(() => members.every((member) => member.told), 'every client was told of its group', TOLD_DEADLINE_MS);
  const told = performance.now();
  const cpuMicros = (processStats(target.brokerPid)?.cpuMicros ?? 0) - cpuBefore;
  const beats = wish.steadySeconds * wish.perSecond;
  const steady = await paced(beats, wish.perSecond, (i) => members[i % members.length]?.beat());
  const figures = {
    subscriptions: wish.clients * (wish.topicsPerGroup + 1),
    comeSeconds: round((joined - began) / 1000),
    comeMs: quantiles(come),
    steadyMs: quantiles(steady),
    notifications: members.reduce((sum, { notifications }) => sum + notifications, 0),
    toldSeconds: round((told - joined) / 1000),
    rssMebibytes: residentMebibytes(target.brokerPid),
    cpuSecondsComing: round(cpuMicros / 1e6),
    failedAsks: members.reduce((sum, { failedAsks }) => sum + failedAsks, 0),
    bytesReadMebibytes: Math.round(members.reduce((sum, { bytesRead }) => sum + bytesRead, 0) / MEBIBYTE),
  };
  for (const member of members) member.leave();
  return figures;
}

/** One connection in one group. */
class CrowdMember {
  notifications = 0;
  /** Not answered within 10 s, or when everything ends. */
  failedAsks = 0;
  #client: RawClient | undefined;
  readonly #body: Buffer;

  constructor(
    index: number,
    private readonly wish: CrowdWish,
  ) {
    const groupIndex = index % wish.groups;
    const group = `crowd_${groupIndex}`;
    const topics = Array.from({ length: wish.topicsPerGroup }, (_, i) =>
      subscriptionTo(`crowd_topic_${groupIndex}_${i}`),
    );
    const clientID = `10.0.${index >> 8}.${index & 255}@${10_000 + index}#${index}00000000`;
    const subscriptions = [...topics, subscriptionTo(`%RETRY%${group}`)];
    this.#body = encodeHeartbeat({
      clientID,
      consumerDataSet: [consumerOf(group, subscriptions)],
      producerDataSet: [],
    });
    this.group = group;
  }

  readonly group: string;

  get told(): boolean {
    return this.notifications > 0;
  }

  get bytesRead(): number {
    return this.#client?.bytesRead ?? 0;
  }

  /** Milliseconds that the registration took, its connection made before. */
  async join(broker: string): Promise<number> {
    const client = (this.#client = await RawClient.connect(broker));
    client.respond = ({ code }) => {
      if (code !== RequestCode.NOTIFY_CONSUMER_IDS_CHANGED) return undefined;
      this.notifications++;
      if (this.wish.ask)
        client
          .ask(RequestCode.GET_CONSUMER_LIST_BY_GROUP, { ext: { consumerGroup: this.group } })
          .catch(() => this.failedAsks++);
      return undefined;
    };
    return this.beat();
  }

  async beat(): Promise<number> {
    const before = performance.now();
    const answer = await this.#client?.ask(RequestCode.HEART_BEAT, { body: this.#body });
    if (answer?.code !== 0) throw new Error(`a heartbeat was answered ${answer?.code}: ${answer?.remark}`);
    return performance.now() - before;
  }

  leave(): void {
    this.#client?.[Symbol.dispose]();
  }
}

/** Begins so many calls, spread evenly whether or not the ones before are answered; resolves to what they resolved to. */
async function paced(
  count: number,
  perSecond: number,
  call: (i: number) => Promise<number> | undefined,
): Promise<number[]> {
  const began = performance.now();
  const calls: Promise<number>[] = [];
  for (let i = 0; i < count; i++) {
    const dueMs = began + (i * 1000) / perSecond;
    if (performance.now() < dueMs) await until(() => performance.now() >= dueMs, 'the next call is due');
    const called = call(i);
    // Awaited at the end; until then a failure is nobody's.
    called?.catch(() => undefined);
    if (called !== undefined) calls.push(called);
  }
  return Promise.all(calls);
}

function quantiles(values: number[]): CrowdFigures['comeMs'] {
  const sorted = values.sort((a, b) => a - b);
  const at = (part: number): number =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), max: round(sorted.at(-1) ?? 0) };
}

function residentMebibytes(pid: number): number {
  const kibibytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  return Math.round(kibibytes / 1024);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
