import { readFileSync } from 'node:fs';
import { processStats } from '../../../cli/bench/process-stats.js';
import { encodeHeartbeat } from '../../../protocol/bodies/heartbeat.js';
import { RequestCode } from '../../../protocol/codes.js';
import { RawClient } from '../../support/raw-client.js';
import { consumerOf, subscriptionTo } from '../../support/send-pull.js';
import { until } from '../../support/until.js';
import type { Target } from '../support/target.js';

/** So many heartbeats are on their way at a time while the crowd comes. */
const COMING = 32;
/** In the steady state heartbeats come spread over time: 10,000 clients, one in 30 s each, are 333 a second. */
const STEADY_PER_SECOND = 333;
const TOLD_DEADLINE_MS = 60_000;
const MEBIBYTE = 2 ** 20;

export interface CrowdWish {
  readonly clients: number;
  readonly groups: number;
  readonly topicsPerGroup: number;
  /** Clients ask who is in the group (38) when they are told that it changed, as those of RocketMQ do. */
  readonly ask: boolean;
  readonly steadySeconds: number;
}

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
  readonly bytesReadMebibytes: number;
}

/** Lets a crowd of clients join, waits until all know of each other, and keeps them alive for a while. */
export async function crowd(wish: CrowdWish, target: Target): Promise<CrowdFigures> {
  const cpuBefore = processStats(target.brokerPid)?.cpuMicros ?? 0;
  const members = Array.from({ length: wish.clients }, (_, index) => new CrowdMember(index, wish));
  const began = performance.now();
  const come: number[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let member = members[next++]; member !== undefined; member = members[next++])
      come.push(await member.join(target.broker));
  };
  await Promise.all(Array.from({ length: COMING }, lane));
  const joined = performance.now();
  await until(() => members.every((member) => member.told), 'every client was told of its group', TOLD_DEADLINE_MS);
  const told = performance.now();
  const cpuMicros = (processStats(target.brokerPid)?.cpuMicros ?? 0) - cpuBefore;
  const steady = await steadily(members, wish.steadySeconds);
  const figures = {
    subscriptions: wish.clients * (wish.topicsPerGroup + 1),
    comeSeconds: round((joined - began) / 1000),
    comeMs: quantiles(come),
    steadyMs: quantiles(steady),
    notifications: members.reduce((sum, { notifications }) => sum + notifications, 0),
    toldSeconds: round((told - joined) / 1000),
    rssMebibytes: residentMebibytes(target.brokerPid),
    cpuSecondsComing: round(cpuMicros / 1e6),
    bytesReadMebibytes: Math.round(members.reduce((sum, { bytesRead }) => sum + bytesRead, 0) / MEBIBYTE),
  };
  for (const member of members) member.leave();
  return figures;
}

/** One connection in one group. */
class CrowdMember {
  notifications = 0;
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
        void client.ask(RequestCode.GET_CONSUMER_LIST_BY_GROUP, { ext: { consumerGroup: this.group } });
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

async function steadily(members: readonly CrowdMember[], seconds: number): Promise<number[]> {
  const took: number[] = [];
  const beats: Promise<number>[] = [];
  const began = performance.now();
  for (let i = 0; i < seconds * STEADY_PER_SECOND; i++) {
    const dueMs = (i * 1000) / STEADY_PER_SECOND;
    const waitMs = dueMs - (performance.now() - began);
    if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const member = members[i % members.length];
    if (member !== undefined) beats.push(member.beat().then((ms) => took.push(ms)));
  }
  await Promise.all(beats);
  return took;
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
