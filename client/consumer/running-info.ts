import type { SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import { subscriptionBean } from '../../protocol/bodies/heartbeat.js';
import { JavaDouble, writeJson } from '../../protocol/bodies/json-write.js';
import { queueTableMap } from '../../protocol/bodies/message-queue.js';
import type { ConsumeStats } from './consume-stats.js';
import type { OffsetStore } from './offset-store.js';
import type { ProcessQueue } from './process-queue.js';

export interface RunningInfoSource {
  readonly nameServers: readonly string[];
  readonly startedWallMs: number;
  readonly concurrency: number;
  readonly orderly: boolean;
  readonly subscriptions: readonly SubscriptionData[];
  readonly processes: readonly ProcessQueue[];
  readonly offsets: OffsetStore;
  readonly stats: ConsumeStats;
  /** What runs in the listener now is wanted, too. */
  readonly listeners: boolean;
  readonly nowMonoMs: number;
  /** Turns a monotonic time of this process into milliseconds since the epoch. */
  readonly wallOf: (monoMs: number) => number;
}

/** Answer to GET_CONSUMER_RUNNING_INFO (307), as `mqadmin consumerStatus` reads it. 4.9: ConsumerRunningInfo. */
export function encodeRunningInfo(source: RunningInfoSource): Buffer {
  const status = new Map(
    source.subscriptions.map(({ topic }) => {
      const { consumeFailedMsgs, ...rates } = source.stats.of(topic).status();
      const doubles = Object.entries(rates).map(([name, value]) => [name, new JavaDouble(value)] as const);
      return [topic, { ...Object.fromEntries(doubles), consumeFailedMsgs }] as const;
    }),
  );
  return writeJson({
    jstack: source.listeners ? listenersText(source) : undefined,
    mqTable: queueTableMap(
      source.processes.map((process) => [process.queue, process] as const),
      (process) => ({
        cachedMsgCount: process.count,
        cachedMsgMaxOffset: process.count === 0 ? 0 : process.maxOffset,
        cachedMsgMinOffset: Math.max(0, process.minOffset),
        cachedMsgSizeInMiB: Math.floor(process.bytes / 2 ** 20),
        commitOffset: source.offsets.current(process.queue) ?? -1,
        droped: process.dropped,
        lastConsumeTimestamp: source.wallOf(process.lastConsumeMs),
        lastLockTimestamp: process.lockedMs === 0 ? 0 : source.wallOf(process.lockedMs),
        lastPullTimestamp: source.wallOf(process.lastPullMs),
        locked: process.lockedMs !== 0 && !process.lost,
        transactionMsgCount: 0,
        transactionMsgMaxOffset: 0,
        transactionMsgMinOffset: 0,
        tryUnlockTimes: 0,
      }),
    ),
    properties: {
      PROP_CLIENT_VERSION: 'V4_9_7',
      PROP_CONSUMEORDERLY: String(source.orderly),
      PROP_CONSUMER_START_TIMESTAMP: String(source.startedWallMs),
      PROP_CONSUME_TYPE: 'CONSUME_PASSIVELY',
      PROP_NAMESERVER_ADDR: source.nameServers.map((address) => `${address};`).join(''),
      PROP_THREADPOOL_CORE_SIZE: String(source.concurrency),
    },
    statusTable: status,
    subscriptionSet: source.subscriptions.map(subscriptionBean),
  });
}

/**
 * In the place of Java's thread dump (`mqadmin consumerStatus -s`): one thread runs all listeners here, and what one asks is which
 * message has been in one, and for how long.
 */
function listenersText({ processes, concurrency, nowMonoMs }: RunningInfoSource): string {
  const lines = processes.map(({ queue: { topic, brokerName, queueId }, first, count }) => {
    const name = `${topic} ${brokerName}/${queueId}`;
    if (first === undefined) return `${name}: nothing held`;
    const { message, startedMs } = first;
    const since =
      startedMs === 0 ? 'waits for a listener' : `in a listener for ${Math.round(nowMonoMs - startedMs)} ms`;
    return `${name}: ${count} held, the first is offset ${message.queueOffset} (${message.msgId}), ${since}`;
  });
  return [`Node ${process.version}, process ${process.pid}, at most ${concurrency} listeners at once`, ...lines].join(
    '\n',
  );
}
