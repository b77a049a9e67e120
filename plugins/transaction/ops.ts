import { Fifo } from '../../kernel/base/fifo.js';
import { inject, injectable } from '../../kernel/container.js';
import { Clock } from '../../kernel/tokens.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { OP_QUEUE_ID, OpRecord } from '../../protocol/message/op-record.js';
import { AppendGate, StoreHost } from '../commitlog/contract.js';
import type { Ending } from './ending.js';

const RETRY_MS = 1000;

/** Hands op records over, in order; those that find the ring full wait, and those that the disk had no room for are tried again. */
@injectable()
export class Ops {
  readonly #record: OpRecord;
  readonly #waiting = new Fifo<Ending>(64);
  readonly #refused: Ending[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(
    @inject(AppendGate) private readonly gate: AppendGate,
    @inject(StoreHost) host: StoreHost,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#record = new OpRecord(host.address, host.port);
  }

  /** Those that the store refused; after a failed write it takes none until a restart. */
  get refused(): number {
    return this.#refused.length;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** To be published by the caller. */
  put(ending: Ending): void {
    if (this.#waiting.size > 0 || !this.#write(ending)) this.#waiting.push(ending);
  }

  /** There is room in the ring. */
  retry(): void {
    while (this.#waiting.size > 0 && this.#write(this.#waiting.peek()!)) this.#waiting.shift();
  }

  again(ending: Ending): void {
    this.#refused.push(ending);
    this.#timer ??= setTimeout(() => this.#retryRefused(), RETRY_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #retryRefused(): void {
    this.#timer = undefined;
    for (const ending of this.#refused.splice(0)) this.put(ending);
    this.gate.publish();
  }

  #write(ending: Ending): boolean {
    const size = this.#record.sizeFor(ending.halfOffset);
    const start = this.gate.reserve(size);
    if (start < 0) return false;
    this.#record.write(this.gate.view, start, ending.halfOffset, this.clock.wallMs());
    this.gate.commit(size, SystemTopic.TRANS_OP_HALF, OP_QUEUE_ID, 1, ending);
    return true;
  }
}
