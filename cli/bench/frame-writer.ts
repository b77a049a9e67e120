import type { Clock } from '../../kernel/base/clock.js';
import { writeOpaque } from './frames.js';
import type { BrokerTarget, Finish, LoadCounters } from './load.js';
import { sendFrames, writeDueTime, writeKey, type MessageShape, type SendFrame } from './send-frames.js';

/** What the connections of a sending load share. */
export interface SendContext {
  readonly shape: MessageShape;
  readonly clock: Clock;
  readonly counters: LoadCounters;
  readonly finish: Finish;
  /** Writes into a message's body when it was meant to leave, or which one it is; none: bodies are all the same. `dueMs`: its delivery time, if any. */
  readonly stamp?: (block: Buffer, bodyAt: number, intendedMs: number, dueMs: number) => void;
}

/** The templates of each broker, made once for all connections to it: they are copied before anything is patched. */
export function framesByTarget(
  context: SendContext,
  targets: readonly BrokerTarget[],
): (target: BrokerTarget) => SendFrame[] {
  const now = context.clock.wallMs();
  const made = new Map(targets.map((target) => [target, sendFrames(context.shape, target.queues, now)]));
  return (target) => made.get(target)!;
}

/** Puts one request after the other into a block that leaves in one write: queues and tags in turn, keys counting up. */
export class FrameWriter {
  readonly #context: SendContext;
  readonly #frames: readonly SendFrame[];
  #next: number;
  #nextKey: number;

  constructor(context: SendContext, frames: readonly SendFrame[], connection: number) {
    this.#context = context;
    this.#frames = frames;
    this.#next = connection % frames.length;
    // Far apart, so that no two messages have the same key.
    this.#nextKey = Math.imul(connection, 0x9e3779b1) >>> 0;
  }

  /** Memory for the next `count` requests, and `more` bytes behind them. */
  block(count: number, more = 0): Buffer {
    let size = more;
    for (let index = 0, next = this.#next; index < count; index++) {
      size += this.#frames[next]!.bytes.length;
      next = next + 1 === this.#frames.length ? 0 : next + 1;
    }
    return Buffer.allocUnsafe(size);
  }

  /** The number of the next request's key. */
  get nextKey(): number {
    return this.#nextKey;
  }

  /** Returns where the request ends. */
  put(block: Buffer, at: number, slot: number, intendedMs: number): number {
    const frame = this.#frames[this.#next]!;
    this.#next = this.#next + 1 === this.#frames.length ? 0 : this.#next + 1;
    const { bytes, keysAt, bodyAt, dueAt } = frame;
    block.set(bytes, at);
    writeOpaque(block, at, frame, slot);
    for (let key = 0; key < keysAt.length; key++) {
      writeKey(block, at + keysAt[key]!, this.#nextKey);
      this.#nextKey = (this.#nextKey + 1) >>> 0;
    }
    let dueMs = 0;
    if (dueAt >= 0) {
      dueMs = this.#dueMs();
      writeDueTime(block, at + dueAt, dueMs);
    }
    const { stamp } = this.#context;
    if (stamp !== undefined) stamp(block, at + bodyAt, intendedMs, dueMs);
    return at + bytes.length;
  }

  #dueMs(): number {
    const { aheadMs, spreadMs = 0 } = this.#context.shape.delay!;
    return Math.floor(this.#context.clock.wallMs() + aheadMs + Math.random() * spreadMs);
  }
}
