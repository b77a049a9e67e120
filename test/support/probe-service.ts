import type { ServiceFactory } from '../../kernel/threads/service.js';
import { Doorbell } from '../../kernel/ring/wait.js';
import type { BellAddress } from '../../kernel/threads/contract.js';

/** Words that a probe shares with its test, so that the test sees it on whichever thread it runs. */
export const Word = { steps: 0, closed: 1, made: 2, todo: 3, done: 4, threadId: 5, gate: 6 } as const;

export interface ProbeBoot {
  readonly shared: SharedArrayBuffer;
  /** What an idle step returns. */
  readonly idleMs: number;
  /** Rung after each piece of work. */
  readonly follower?: BellAddress;
}

export interface ProbeCalls {
  add(a: number, b: number): number;
  /** Answers after a later step. */
  afterNextStep(): Promise<string>;
  fail(): void;
  /** Every step from now on throws. */
  breakSteps(): void;
  /** The next step does not return until `gate` is set. */
  hang(): void;
  echo(value: unknown): unknown;
  never(): Promise<void>;
}

export function probeMemory(): { boot: ProbeBoot; words: Int32Array } {
  const shared = new SharedArrayBuffer(16 * Int32Array.BYTES_PER_ELEMENT);
  return { boot: { shared, idleMs: 500 }, words: new Int32Array(shared) };
}

/** A service that can be watched and broken. Does one unit of `todo` per step. */
const create: ServiceFactory<ProbeBoot> = (boot) => {
  const words = new Int32Array(boot.shared);
  const follower = boot.follower === undefined ? undefined : Doorbell.at(boot.follower);
  const waiting: (() => void)[] = [];
  let broken = false;
  let hanging = false;
  Atomics.add(words, Word.made, 1);
  const calls: ProbeCalls = {
    add: (a, b) => a + b,
    afterNextStep: () => new Promise((resolve) => waiting.push(() => resolve('stepped'))),
    fail: () => {
      throw Object.assign(new RangeError('probe failed'), { code: 'EPROBE' });
    },
    breakSteps: () => {
      broken = true;
    },
    hang: () => {
      hanging = true;
    },
    echo: (value) => value,
    never: () => new Promise<void>(() => undefined),
  };
  return {
    calls,
    step: () => {
      Atomics.add(words, Word.steps, 1);
      if (broken) throw new Error('probe broke');
      if (hanging) Atomics.wait(words, Word.gate, 0);
      for (const resolve of waiting.splice(0)) resolve();
      if (Atomics.load(words, Word.todo) === 0) return boot.idleMs;
      Atomics.sub(words, Word.todo, 1);
      Atomics.add(words, Word.done, 1);
      follower?.ring();
      return 0;
    },
    close: () => void Atomics.add(words, Word.closed, 1),
  };
};
export default create;
