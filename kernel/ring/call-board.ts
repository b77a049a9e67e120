const CALL = 0;
const CALLS = 1;
const NAMED = 2;
const NAMED_MS = 3;
const WORDS = 4;

/** Calls that can be told from each other; the names of those before are overwritten. */
const SLOTS = 1024;
const NAME_BYTES = 256;
const NAMES_AT = WORDS * Int32Array.BYTES_PER_ELEMENT;

/**
 * Which call into foreign code a thread is in, for a watchdog on another one. The calling thread writes `call`, `calls` and the
 * names, the watchdog writes `named` and `namedMs`. Entering and leaving are plain stores: a look that comes too early or too late
 * sees another count of calls the next time.
 */
export class CallBoard {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #names: Buffer;
  #last = 0;

  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(NAMES_AT + SLOTS * NAME_BYTES);
  }

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, WORDS);
    this.#names = Buffer.from(memory, NAMES_AT);
  }

  /** A number for a kind of call, whose name the watchdog can read; long names are cut. */
  call(name: string): number {
    this.#last = (this.#last % SLOTS) + 1;
    const at = (this.#last - 1) * NAME_BYTES;
    this.#names.fill(0, at, at + NAME_BYTES);
    // Never half a character: what does not fit whole is not written.
    this.#names.write(name, at, NAME_BYTES);
    return this.#last;
  }

  enter(call: number): void {
    const words = this.#words;
    // 0 is no call: `named` starts so.
    words[CALLS] = (words[CALLS]! + 1) | 0 || 1;
    words[CALL] = call;
  }

  /** True when the watchdog named this very call, which then `blockedMs` is about. */
  leave(): boolean {
    const words = this.#words;
    words[CALL] = 0;
    return words[NAMED] === words[CALLS];
  }

  /** How long the call has lasted since the watchdog first saw it. */
  blockedMs(nowMonoMs: number): number {
    return Math.max(0, (Math.trunc(nowMonoMs) - Atomics.load(this.#words, NAMED_MS)) | 0);
  }

  /** For the watchdog: the running call by name and count, undefined between calls. */
  running(): { readonly name: string; readonly count: number } | undefined {
    const call = Atomics.load(this.#words, CALL);
    if (call === 0) return undefined;
    const count = Atomics.load(this.#words, CALLS);
    const at = (call - 1) * NAME_BYTES;
    const end = this.#names.indexOf(0, at);
    return { name: this.#names.toString('utf8', at, Math.min(end < 0 ? Infinity : end, at + NAME_BYTES)), count };
  }

  /** For the watchdog, when a call that it named has ended: another one may get the same count, billions of calls later. */
  forget(count: number): void {
    Atomics.compareExchange(this.#words, NAMED, count, 0);
  }

  /** For the watchdog: it has named the call with this count, which it first saw at `seenMonoMs`. */
  named(count: number, seenMonoMs: number): void {
    Atomics.store(this.#words, NAMED_MS, Math.trunc(seenMonoMs) | 0);
    Atomics.store(this.#words, NAMED, count);
  }
}
