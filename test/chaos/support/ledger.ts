import { systemClock } from '../../../kernel/base/clock.js';

/** What became of a send: `open` until its answer, `unknown` when the connection ended before it. */
export type Outcome = 'open' | 'acked' | 'refused' | 'unknown';

/** One send, kept outside of the broker. */
export interface Sent {
  readonly queueId: number;
  outcome: Outcome;
  /** Of an answer that is not SUCCESS. */
  code: number;
  /** Of an acknowledged one. */
  queueOffset: number;
  msgId: string;
  /** Monotonic milliseconds. */
  ackedMs: number;
}

/** Every send of a load and its outcome, by producer and sequence. */
export class Ledger {
  readonly #sent: Sent[][];
  acked = 0;
  /** By response code. */
  readonly refused = new Map<number, number>();
  /** Answers that no open send waits for: a second one, or one to nobody. */
  readonly strays: string[] = [];

  constructor(producers: number) {
    this.#sent = Array.from({ length: producers }, () => []);
  }

  /** Notes a send; returns its sequence. */
  send(producer: number, queueId: number): number {
    return (
      this.#sent[producer]!.push({ queueId, outcome: 'open', code: 0, queueOffset: -1, msgId: '', ackedMs: 0 }) - 1
    );
  }

  nextSequence(producer: number): number {
    return this.#sent[producer]!.length;
  }

  find(producer: number, sequence: number): Sent | undefined {
    return this.#sent[producer]?.[sequence];
  }

  ack(sent: Sent, queueOffset: number, msgId: string): void {
    sent.outcome = 'acked';
    sent.queueOffset = queueOffset;
    sent.msgId = msgId;
    sent.ackedMs = systemClock.monoMs();
    this.acked++;
  }

  refuse(sent: Sent, code: number): void {
    sent.outcome = 'refused';
    sent.code = code;
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
  }

  *all(): Generator<readonly [producer: number, sequence: number, sent: Sent]> {
    for (const [producer, list] of this.#sent.entries())
      for (const [sequence, sent] of list.entries()) yield [producer, sequence, sent];
  }
}
