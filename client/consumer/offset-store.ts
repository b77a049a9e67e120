import type { MessageQueue } from '../transport/message-queue.js';

/** Progress of a group: kept in memory while it changes, and somewhere safe. */
export interface OffsetStore {
  /** Reads what is safe. Undefined: never consumed. Rejects when that is not known; the queue must then not be started. */
  read(queue: MessageQueue): Promise<number | undefined>;
  /** The offset in memory, or undefined. */
  current(queue: MessageQueue): number | undefined;
  /** Sets the offset in memory. `increaseOnly`: a lower one is ignored. */
  update(queue: MessageQueue, offset: number, increaseOnly: boolean): void;
  /** Saves the offset of one queue; resolves when it is safe. */
  commit(queue: MessageQueue): Promise<void>;
  /** Saves those of several queues, without waiting for each; failures show in the log and with the next time. */
  persist(queues: readonly MessageQueue[]): Promise<void>;
  /** Drops what is in memory for a queue. */
  forget(queue: MessageQueue): void;
}

/** The part in memory, common to all stores. */
export class OffsetTable {
  readonly #offsets = new Map<string, { readonly queue: MessageQueue; offset: number }>();

  constructor(private readonly keyOf: (queue: MessageQueue) => string) {}

  get(queue: MessageQueue): number | undefined {
    return this.#offsets.get(this.keyOf(queue))?.offset;
  }

  set(queue: MessageQueue, offset: number, increaseOnly: boolean): void {
    const key = this.keyOf(queue);
    const entry = this.#offsets.get(key);
    if (entry === undefined) this.#offsets.set(key, { queue, offset });
    else if (!increaseOnly || offset > entry.offset) entry.offset = offset;
  }

  delete(queue: MessageQueue): void {
    this.#offsets.delete(this.keyOf(queue));
  }

  *entries(): Iterable<readonly [MessageQueue, number]> {
    for (const { queue, offset } of this.#offsets.values()) yield [queue, offset];
  }
}
