import { Fifo } from '../base/fifo.js';
import type { BellAddress } from '../threads/contract.js';
import { Mailbox, type MailboxMemory } from './mailbox.js';
import { QueueTable, type QueueTableMemory } from './queue-table.js';
import type { RingMemory, SlotStatus } from './slots.js';
import { Doorbell } from './wait.js';
import { RingWriter } from './writer.js';

/** What a service needs to store messages from its thread; part of its boot. */
export interface StoreEndMemory {
  /** Of this service alone. */
  readonly ring: RingMemory;
  /** The log writer's. */
  readonly writer: BellAddress;
  readonly queueTable: QueueTableMemory;
  readonly mailbox: MailboxMemory;
}

export interface WantedRow {
  readonly topic: string;
  readonly queueId: number;
}

/** For `Service.calls`: what the kernel's thread asks for when mail has come. */
export interface StoreEndCalls {
  /** Queues that the service wants to store to and that have no row yet; asked once, the kernel's thread adds them and rings. */
  takeWantedRows(): readonly WantedRow[];
}

/** How a unit ended; `start` is where its stamped records stand in `bytes`, until the listener returns. */
export type UnitListener<P> = (pending: P, status: SlotStatus, start: number, size: number) => void;

/**
 * A service's end of its hand-off ring: reserve, encode into `bytes`, commit; publish once per step; collect in the next ones.
 * `P` is what the service wants to get back with each unit's outcome.
 */
export class StoreEnd<P> {
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly table: QueueTable;
  readonly #ring: RingWriter;
  readonly #writer: Doorbell;
  readonly #mailbox: Mailbox;
  readonly #pending = new Fifo<P>();
  readonly #wanted = new Map<string, WantedRow>();
  /** Units that an earlier life of the service left in the ring, and whose bytes lie where this one would begin. */
  #inherited: number;

  constructor(memory: StoreEndMemory) {
    this.#ring = new RingWriter(memory.ring);
    this.bytes = this.#ring.bytes;
    this.view = this.#ring.view;
    this.table = new QueueTable(memory.queueTable);
    this.#writer = Doorbell.at(memory.writer);
    this.#mailbox = new Mailbox(memory.mailbox);
    this.#inherited = -this.#ring.completed();
  }

  /** False while the writer is not done with what an earlier life handed over: nothing may be reserved then. */
  get isReady(): boolean {
    if (this.#inherited > 0) this.#inherited = -this.#ring.completed();
    return this.#inherited <= 0;
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  /** Row of the queue, or -1: then the kernel's thread was asked to add it, and rings when it is there. */
  row(topic: string, queueId: number): number {
    const row = this.table.find(topic, queueId);
    if (row < 0) {
      this.#wanted.set(`${topic} ${queueId}`, { topic, queueId });
      this.#mailbox.post();
    }
    return row;
  }

  takeWantedRows(): readonly WantedRow[] {
    const rows = [...this.#wanted.values()];
    this.#wanted.clear();
    return rows;
  }

  /** Tells the kernel's thread that there is something of the service's own to ask for. */
  postMail(): void {
    this.#mailbox.post();
  }

  /** Index of `size` contiguous bytes, or -1 while there is no room: then collect, and try again. */
  reserve(size: number): number {
    return this.#ring.reserve(size);
  }

  /** Whether a unit of this size is certain to fit when nothing is in flight. */
  canEverFit(size: number): boolean {
    return size * 2 <= this.bytes.length;
  }

  commit(size: number, row: number, records: number, pending: P): void {
    this.#ring.commit(size, row, records);
    this.#pending.push(pending);
  }

  publish(): void {
    if (this.#ring.publish()) this.#writer.ring();
  }

  /** Hands out what the writer is done with, in order, and frees it. Returns how many. */
  collect(listener: UnitListener<P>): number {
    const completed = this.#pending.size === 0 ? 0 : this.#ring.completed();
    for (let i = 0; i < completed; i++) {
      listener(
        this.#pending.shift(),
        this.#ring.statusOfOldest(),
        this.#ring.startOfOldest(),
        this.#ring.bytesOfOldest(),
      );
      this.#ring.release();
    }
    return completed;
  }
}
