import { systemClock, type Clock } from '../../kernel/base/clock.js';
import type { Percentiles } from './histogram.js';
import type { Load } from './load.js';
import { processStats } from './process-stats.js';

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
  end(): Promise<void>;
}

export interface LoadResult {
  readonly messages: number;
  readonly seconds: number;
  readonly messagesPerSecond: number;
  readonly mebibytesPerSecond: number;
  /** Of one request (send, batch or pull), in microseconds. */
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
    if (settings.warmSeconds > 0) await ticker.run(settings.warmSeconds, true);
    await settings.probe?.begin();
    load.counters.reset();
    const cpuBefore = process.cpuUsage();
    const brokerBefore = settings.pid === undefined ? undefined : processStats(settings.pid);
    const beganMs = clock.monoMs();
    await ticker.run(settings.seconds, false);
    const seconds = (clock.monoMs() - beganMs) / 1000;
    const cpu = process.cpuUsage(cpuBefore);
    const brokerAfter = settings.pid === undefined ? undefined : processStats(settings.pid);
    const { counters } = load;
    const per = (micros: number): number => (counters.messages === 0 ? 0 : micros / counters.messages);
    const result: LoadResult = {
      messages: counters.messages,
      seconds,
      messagesPerSecond: counters.messages / seconds,
      mebibytesPerSecond: counters.bytes / seconds / 2 ** 20,
      latencyMicros: { ...counters.latency.percentiles(), mean: counters.latency.mean },
      errors: Object.fromEntries([...counters.errors].map(([code, count]) => [String(code), count])),
      generatorCpuMicrosPerMessage: per(cpu.user + cpu.system),
      ...(brokerBefore !== undefined && brokerAfter !== undefined
        ? {
            broker: {
              cpuMicrosPerMessage: per(brokerAfter.cpuMicros - brokerBefore.cpuMicros),
              rssAnonMebibytes: brokerAfter.rssAnonBytes / 2 ** 20,
            },
          }
        : {}),
    };
    await settings.probe?.end();
    return result;
  } finally {
    await load.stop();
  }
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
    const answers = this.load.counters.latency.count;
    if (answers !== this.#lastAnswers) {
      this.#lastAnswers = answers;
      this.#lastAnswerMs = nowMs;
    } else if (nowMs - this.#lastAnswerMs > STALL_MS) {
      throw new Error(`the broker has not answered for ${STALL_MS / 1000} s`);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
