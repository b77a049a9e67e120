import type { Logger } from '../../kernel/base/logger.js';

const LINES_MAX = 10;

/** Names in the log what is passed over: the first ones of each job, and how many more there were. */
export class Unreadable {
  #count = 0;

  constructor(private readonly logger: Logger) {}

  add(topic: string, queueOffset: number, problem: string, until = queueOffset + 1): void {
    if (this.#count++ < LINES_MAX)
      this.logger.warn({ topic, queueOffset, until, problem }, 'the transaction check passes over an entry');
  }

  /** A job has ended. */
  end(): void {
    if (this.#count > LINES_MAX)
      this.logger.warn({ more: this.#count - LINES_MAX }, 'the transaction check passed over more entries');
    this.#count = 0;
  }
}
