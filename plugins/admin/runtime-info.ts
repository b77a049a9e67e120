import { localDay } from '../../kernel/base/clock.js';
import { inject, injectable } from '../../kernel/container.js';
import { Clock, Options } from '../../kernel/tokens.js';
import { encodeKVTable } from '../../protocol/bodies/kv-table.js';
import { RequestCode, ResponseCode, Version } from '../../protocol/codes.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { usedRatio } from '../../store/files/disk-usage.js';
import { AppendGate, LogReader, StoreDisks, StoreState, StoreStatus } from '../commitlog/contract.js';
import { Gauges } from '../gauges/contract.js';
import { Counters } from '../metrics/contract.js';
import type { Reply, RequestRouter } from '../remoting/contract.js';
import { Queues } from '../reput/contract.js';
import { Delays } from '../schedule/contract.js';
import { doubleText } from './double-text.js';
import { Rates } from './rates.js';

const SAMPLE_MS = 1000;

/** Totals at the last two midnights, so that tools can say what today brought. */
interface Mornings {
  day: number;
  yesterday: { put: number; get: number };
  today: { put: number; get: number };
}

/**
 * GET_BROKER_RUNTIME_INFO (28) with the keys of 4.9.7, and our own behind them, which begin with `kernel.`. What belongs to its thread pools, locks and buffers stands at 0 or at its
 * setting, since there are none here.
 */
@injectable()
export class RuntimeInfo {
  readonly #put = new Rates();
  readonly #found = new Rates();
  readonly #missed = new Rates();
  readonly #total = new Rates();
  readonly #transferred = new Rates();
  readonly #bootMs: number;
  readonly #bootMonoMs: number;
  readonly #mornings: Mornings;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
    @inject(Counters) private readonly counters: Counters,
    @inject(StoreState) private readonly store: StoreState,
    @inject(StoreStatus) private readonly status: StoreStatus,
    @inject(StoreDisks) private readonly disks: StoreDisks,
    @inject(AppendGate) private readonly gate: AppendGate,
    @inject(LogReader) private readonly log: LogReader,
    @inject(Delays) private readonly delays: Delays,
    @inject(Queues) private readonly queues: Queues,
    @inject(Gauges) private readonly gauges: Gauges,
  ) {
    this.#bootMs = clock.wallMs();
    this.#bootMonoMs = clock.monoMs();
    this.#mornings = { day: localDay(this.#bootMs), yesterday: { put: 0, get: 0 }, today: { put: 0, get: 0 } };
  }

  register(router: RequestRouter): void {
    router.handle(RequestCode.GET_BROKER_RUNTIME_INFO, async (): Promise<Reply> => {
      return { code: ResponseCode.SUCCESS, body: encodeKVTable(await this.table()) };
    });
  }

  startSampling(): void {
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  stopSampling(): void {
    clearInterval(this.#timer);
  }

  async table(): Promise<Map<string, string>> {
    const entries = { ...this.#server(), ...this.#traffic(), ...this.#idleParts(), ...(await this.#storage()) };
    const table = new Map(Object.entries(entries).map(([key, value]) => [key, String(value)]));
    for (const [level, offset] of this.delays.offsets())
      table.set(
        `scheduleMessageOffset_${level}`,
        `${offset},${this.queues.maxOffset(SystemTopic.SCHEDULE, level - 1)}`,
      );
    for (const [key, value] of this.gauges.table()) table.set(key, value);
    return table;
  }

  #sample(): void {
    const { putMessages: put, getMessages: get, getFound, getMissed } = this.counters;
    this.#put.sample(put);
    this.#found.sample(getFound);
    this.#missed.sample(getMissed);
    this.#total.sample(getFound + getMissed);
    this.#transferred.sample(get);
    const day = localDay(this.clock.wallMs());
    if (day === this.#mornings.day) return;
    this.#mornings.day = day;
    this.#mornings.yesterday = this.#mornings.today;
    this.#mornings.today = { put, get };
  }

  #server(): Record<string, string | number> {
    return {
      brokerVersionDesc: 'V4_9_7',
      brokerVersion: Version.current,
      bootTimestamp: this.#bootMs,
      runtime: runtimeText(this.clock.monoMs() - this.#bootMonoMs),
      startAcceptSendRequestTimeStamp: this.options.startAcceptSendRequestTimeStamp,
    };
  }

  #traffic(): Record<string, string | number> {
    const { putMessages, putBytes, putRefused, getMessages } = this.counters;
    const { yesterday, today } = this.#mornings;
    return {
      msgPutTotalYesterdayMorning: yesterday.put,
      msgPutTotalTodayMorning: today.put,
      msgPutTotalTodayNow: putMessages,
      msgGetTotalYesterdayMorning: yesterday.get,
      msgGetTotalTodayMorning: today.get,
      msgGetTotalTodayNow: getMessages,
      putMessageTimesTotal: Math.max(1, putMessages),
      putMessageFailedTimes: putRefused,
      putMessageSizeTotal: putBytes,
      putMessageAverageSize: doubleText(putBytes / Math.max(1, putMessages)),
      putTps: this.#put.text(),
      getFoundTps: this.#found.text(),
      getMissTps: this.#missed.text(),
      getTotalTps: this.#total.text(),
      getTransferedTps: this.#transferred.text(),
    };
  }

  #idleParts(): Record<string, string | number> {
    const pools = ['sendThreadPoolQueue', 'pullThreadPoolQueue', 'queryThreadPoolQueue'];
    const sizes = Object.fromEntries(
      pools.flatMap((pool) => [
        [`${pool}Size`, 0],
        [`${pool}HeadWaitTimeMills`, 0],
      ]),
    );
    return {
      ...sizes,
      sendThreadPoolQueueSize: this.gate.waiting,
      sendThreadPoolQueueCapacity: this.options.pendingSendsMax,
      pullThreadPoolQueueCapacity: this.options.heldPullsMax,
      queryThreadPoolQueueCapacity: 0,
      EndTransactionQueueSize: 0,
      EndTransactionThreadPoolQueueCapacity: 0,
      pageCacheLockTimeMills: 0,
      remainTransientStoreBufferNumbs: 0,
      putMessageEntireTimeMax: 0,
      getMessageEntireTimeMax: 0,
      putMessageDistributeTime: '',
      dispatchMaxBuffer: 0,
      putLatency99: '0.00',
      putLatency999: '0.00',
    };
  }

  async #storage(): Promise<Record<string, string | number>> {
    const { appended, flushed, dispatched } = this.status;
    const earliest = appended > this.log.minOffset ? await this.log.storeTimestamp(this.log.minOffset) : -1;
    await this.disks.measure();
    const { commitLog, consumeQueue, root } = this.disks;
    const ratio = doubleText(usedRatio(commitLog));
    return {
      dispatchBehindBytes: appended - dispatched,
      remainHowManyDataToFlush: byteText(appended - flushed),
      earliestMessageTimeStamp: earliest,
      commitLogMinOffset: this.log.minOffset,
      commitLogMaxOffset: appended,
      commitLogDiskRatio: ratio,
      [`commitLogDiskRatio_${this.store.paths.commitLog}`]: ratio,
      consumeQueueDiskRatio: doubleText(usedRatio(consumeQueue)),
      ...(root === undefined
        ? {}
        : { commitLogDirCapacity: `Total : ${byteText(root.total)}, Free : ${byteText(root.usable)}.` }),
    };
  }
}

/** 4.9: MixAll#humanReadableByteCount with binary units. */
function byteText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const power = Math.min(6, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1)} ${'KMGTPE'[power - 1]}iB`;
}

/** 4.9: StoreStatsService#getFormatRuntime. */
function runtimeText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  return `[ ${days} days, ${hours} hours, ${minutes} minutes, ${seconds % 60} seconds ]`;
}
