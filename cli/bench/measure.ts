import { systemClock, type Clock } from '../../kernel/base/clock.js';
import type { Percentiles } from './histogram.js';
import type { Load, LoadCounters, LoadDetail } from './load.js';
import { processStats, type ProcessStats } from './process-stats.js';

export interface MeasureSettings {
  readonly warmSeconds: number;
  /** 0: until the load is finished. */
  readonly seconds: number;
  /** The broker's process on this machine, when its CPU time and memory are to be read. */
  readonly pid: number | undefined;
  readonly probe?: Probe;
}

/** Takes further readings where the measured time begins and ends. */
export interface Probe {
  begin(): Promise<void>;
  /** The measured time is over: what can be read at once. */
  over(): void;
  /** The rest, when the load has completed its counts. */
  end(): Promise<void>;
}

export interface LoadResult extends LoadDetail {
  readonly messages: number;
  readonly seconds: number;
  readonly messagesPerSecond: number;
  readonly mebibytesPerSecond: number;
  /** Of one request (send, batch or pull), or with `tail` and `latency` of a message from send to consumer; in microseconds. */
  readonly latencyMicros: Percentiles & { readonly mean: number };
  /** Answers by response code that were not the wanted one. */
  readonly errors: Readonly<Record<string, number>>;
  /** CPU of this process per message, in microseconds: what the generator itself costs. */
  readonly generatorCpuMicrosPerMessage: number;
  readonly broker?: {
    readonly cpuMicrosPerMessage: number;
    readonly rssAnonMebibytes: number;
  };
}

/** Called about once a second with the rate since the last call; `warm` while nothing counts yet. */
export type LiveLine = (line: {
  elapsedSeconds: number;
  messagesPerSecond: number;
  p99Micros: number;
  warm: boolean;
}) => void;

const STALL_MS = 10_000;
const TICK_MS = 1000;

/** Runs a load that is open: warm-up, measured time, end. Always stops it. */
export async function measure(
  load: Load,
  settings: MeasureSettings,
  live: LiveLine,
  clock: Clock = systemClock,
): Promise<LoadResult> {
  const ticker = new Ticker(load, live, clock);
  try {
    load.start();
    const warmSeconds = settings.warmSeconds + (load.leadSeconds ?? 0);
    if (warmSeconds > 0) await ticker.run(warmSeconds, true);
    await settings.probe?.begin();
    await load.begin();
    const before = usage(settings.pid);
    const beganMs = clock.monoMs();
    await ticker.run(settings.seconds, false);
    const seconds = (clock.monoMs() - beganMs) / 1000;
    const after = usage(settings.pid);
    settings.probe?.over();
    await load.end?.();
    const result = resultOf(load.counters, load.counters.seconds ?? seconds, before, after);
    await settings.probe?.end();
    await load.stop();
    return { ...result, ...load.detail?.() };
  } finally {
    await load.stop();
  }
}

interface Usage {
  readonly generator: NodeJS.CpuUsage;
  readonly broker: ProcessStats | undefined;
}

const usage = (pid: number | undefined): Usage => ({
  generator: process.cpuUsage(),
  broker: pid === undefined ? undefined : processStats(pid),
});

function resultOf(counters: LoadCounters, seconds: number, before: Usage, after: Usage): LoadResult {
  const { messages, bytes, latency } = counters;
  const per = (micros: number): number => (messages === 0 ? 0 : micros / messages);
  const cpu = ({ generator }: Usage): number => generator.user + generator.system;
  const broker =
    before.broker === undefined || after.broker === undefined
      ? undefined
      : {
          cpuMicrosPerMessage: per(after.broker.cpuMicros - before.broker.cpuMicros),
          rssAnonMebibytes: after.broker.rssAnonBytes / 2 ** 20,
        };
  return {
    messages,
    seconds,
    messagesPerSecond: messages / seconds,
    mebibytesPerSecond: bytes / seconds / 2 ** 20,
    latencyMicros: { ...latency.percentiles(), mean: latency.mean },
    errors: Object.fromEntries([...counters.errors].map(([code, count]) => [String(code), count])),
    generatorCpuMicrosPerMessage: per(cpu(after) - cpu(before)),
    ...(broker === undefined ? {} : { broker }),
  };
}

/** Lets time pass in steps of a second, reports each, and gives up when no answer comes any more. */
class Ticker {
  #lastAnswers = 0;
  #lastAnswerMs: number;

  constructor(
    private readonly load: Load,
    private readonly live: LiveLine,
    private readonly clock: Clock,
  ) {
    this.#lastAnswerMs = clock.monoMs();
  }

  /** Ends after `seconds`, or when the load is finished; 0 seconds: only then. */
  async run(seconds: number, warm: boolean): Promise<void> {
    const beganMs = this.clock.monoMs();
    const endMs = seconds === 0 ? Infinity : beganMs + seconds * 1000;
    let finished = false;
    const finish = this.load.finished.then(() => {
      finished = true;
    });
    finish.catch(() => undefined);
    let lastMs = beganMs;
    let lastMessages = this.load.counters.messages;
    this.#lastAnswers = 0;
    while (!finished && this.clock.monoMs() < endMs) {
      await Promise.race([finish, pause(Math.min(TICK_MS, endMs - this.clock.monoMs()))]);
      const nowMs = this.clock.monoMs();
      this.#checkStall(nowMs);
      if (nowMs - lastMs < TICK_MS / 2) continue;
      const { messages, latency } = this.load.counters;
      this.live({
        elapsedSeconds: (nowMs - beganMs) / 1000,
        messagesPerSecond: ((messages - lastMessages) / (nowMs - lastMs)) * 1000,
        p99Micros: latency.percentile(99),
        warm,
      });
      lastMs = nowMs;
      lastMessages = messages;
    }
  }

  #checkStall(nowMs: number): void {
    const { latency, messages } = this.load.counters;
    const answers = latency.count + messages;
    if (answers !== this.#lastAnswers) {
      this.#lastAnswers = answers;
      this.#lastAnswerMs = nowMs;
    } else if (nowMs - this.#lastAnswerMs > STALL_MS + (this.load.leadSeconds ?? 0) * 1000) {
      throw new Error(`the broker has not answered for ${STALL_MS / 1000} s`);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
