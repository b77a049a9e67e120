import type { BellAddress } from '../threads/contract.js';
import { Doorbell } from './wait.js';

export interface MailboxMemory {
  readonly flag: SharedArrayBuffer;
  /** Whom `post` wakes. */
  readonly reader: BellAddress;
}

/** A service's way to say that it has something for the kernel's thread, which then asks for it by a control call. */
export class Mailbox {
  static allocate(reader: BellAddress): MailboxMemory {
    return { flag: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT), reader };
  }

  readonly #flag: Int32Array;
  readonly #bell: Doorbell;

  constructor(memory: MailboxMemory) {
    this.#flag = new Int32Array(memory.flag);
    this.#bell = Doorbell.at(memory.reader);
  }

  get isEmpty(): boolean {
    return Atomics.load(this.#flag, 0) === 0;
  }

  /** The service, after it has put away what it wants to be asked for. */
  post(): void {
    Atomics.store(this.#flag, 0, 1);
    this.#bell.ring();
  }

  /** The reader, before it asks: what is posted meanwhile is another letter. */
  take(): boolean {
    return Atomics.exchange(this.#flag, 0, 0) === 1;
  }
}
