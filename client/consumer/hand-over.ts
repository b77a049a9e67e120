import type { ReceivedMessage } from '../message.js';
import { ABANDONED, type ConsumeResult } from './listener.js';

interface Offer {
  readonly batch: readonly ReceivedMessage[];
  readonly answer: (result: ConsumeResult | typeof ABANDONED) => void;
}

/** Turns calls of a listener into a sequence of messages. Bounded by the number of listeners that run at once. */
export class HandOver {
  readonly #offers: Offer[] = [];
  #wake: (() => void) | undefined;
  #closed = false;

  /** Resolves when the loop asked for the message after the batch's last one, or has ended. */
  offer(batch: readonly ReceivedMessage[]): Promise<ConsumeResult | typeof ABANDONED> {
    if (this.#closed) return Promise.resolve(ABANDONED);
    return new Promise((answer) => {
      this.#offers.push({ batch, answer });
      this.#wake?.();
    });
  }

  async *messages(): AsyncGenerator<ReceivedMessage, void, void> {
    while (!this.#closed) {
      const offer = this.#offers.shift();
      if (offer === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      let done = false;
      try {
        yield* offer.batch;
        done = true;
      } finally {
        offer.answer(done ? 'success' : ABANDONED);
      }
    }
  }

  /** Ends the sequence and gives back what was not taken. */
  close(): void {
    this.#closed = true;
    for (const { answer } of this.#offers.splice(0)) answer(ABANDONED);
    this.#wake?.();
  }
}
