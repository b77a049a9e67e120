import { isDeepStrictEqual } from 'node:util';
import type { Options } from '../support/servers.js';
import { startTarget, type Target, type TargetKind } from '../support/target.js';

/** As RocketMQ's own scripts start a broker, with a heap that fits a small machine. */
export const brokerJvmFlags = ['-Xms4g', '-Xmx4g', '-XX:+UseG1GC', '-XX:MaxDirectMemorySize=2g'] as const;
/** 4.9's defaults, which the suite's small stores do not use. */
const defaults = { mappedFileSizeCommitLog: 1024 ** 3, maxHashSlotNum: 5_000_000, maxIndexNum: 20_000_000 };

/** How the two sides of a row are started. */
export interface PairWish {
  readonly topology?: 'dedicated' | 'fused' | 'paired';
  /** Of both. */
  readonly options?: Options;
  readonly jvmFlags?: readonly string[];
}

/** This broker and the original; of two running ones only one is under load at a time. */
export interface Pair {
  readonly ours: Target;
  readonly theirs: Target;
}

export function startSide(kind: TargetKind, wish: PairWish = {}, namesrv?: string): Promise<Target> {
  const topology: Options = kind === 'kernel' ? { topology: wish.topology ?? 'dedicated' } : {};
  return startTarget({
    kind,
    options: { ...defaults, ...wish.options, ...topology },
    jvmFlags: wish.jvmFlags ?? brokerJvmFlags,
    ...(namesrv === undefined ? {} : { namesrv }),
  });
}

interface Running {
  readonly wish: unknown;
  readonly target: Target;
}

/** Keeps each side running for as long as rows want it as it is: a JVM that was restarted would be cold. */
export class Brokers {
  readonly #running = new Map<TargetKind, Running>();

  /** `started` is called with a side that has just come up, before anything was measured on it. */
  constructor(private readonly started: (target: Target) => Promise<void>) {}

  async pair(wish: PairWish = {}): Promise<Pair> {
    const { topology = 'dedicated', options = {}, jvmFlags = brokerJvmFlags } = wish;
    const ours = await this.#side('kernel', wish, { topology, options });
    return { ours, theirs: await this.#side('jvm', wish, { options, jvmFlags }) };
  }

  /** Their stores go with them: a kill spares the time in which they would write everything back. */
  async stop(): Promise<void> {
    for (const [kind, { target }] of [...this.#running]) {
      this.#running.delete(kind);
      await target.kill9();
    }
  }

  async #side(kind: TargetKind, wish: PairWish, relevant: unknown): Promise<Target> {
    const before = this.#running.get(kind);
    if (before !== undefined && isDeepStrictEqual(before.wish, relevant)) return before.target;
    this.#running.delete(kind);
    await before?.target.kill9();
    const target = await startSide(kind, wish);
    this.#running.set(kind, { wish: relevant, target });
    await this.started(target);
    return target;
  }
}
