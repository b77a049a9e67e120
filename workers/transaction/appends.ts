import { SlotStatus } from '../../kernel/ring/slots.js';
import { StoreEnd } from '../../kernel/ring/store-end.js';
import type { ServiceContext } from '../../kernel/threads/service.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { PropertyName } from '../../protocol/message/properties.js';
import { recordCopy, writeRecordCopy, type RecordCopy } from '../../protocol/message/record-copy.js';
import { physicalOffsetAt, queueOffsetAt } from '../../protocol/message/stamped.js';
import type { Question, TransactionBoot } from './contract.js';
import type { HalfLedger } from './ledger.js';
import { HalfState } from './open-halves.js';
import { ownOps, type OpReason } from './op-record.js';

interface PendingCopy {
  readonly kind: 'copy';
  readonly half: number;
  readonly origin: number;
  /** A question is to follow. */
  readonly ask: boolean;
}

interface PendingExpiry {
  readonly kind: 'expiry';
  readonly half: number;
}

/** The op that says that a half is not open any more, and what is to be asked about its copy when that is stored. */
interface PendingOp {
  readonly kind: 'op';
  readonly half: number;
  readonly reason: OpReason;
  readonly question?: Question;
}

/** `full`: no room now. `impossible`: it can never be stored. */
export type Put = 'put' | 'full' | 'impossible';

/**
 * What the service stores: copies of halves, and ops. An op follows what it tells of when that is stored, never before; a question
 * follows the op: whoever is asked about a copy finds no other open half of its transaction, whatever crashes.
 */
export class Appends {
  /** About copies that are stored. */
  readonly questions: Question[] = [];
  /** Halves for which an op is owed, written or not. */
  readonly #owed = new Set<number>();
  #ops: PendingOp[] = [];
  #failedOps: PendingOp[] = [];
  readonly #end: StoreEnd<PendingCopy | PendingExpiry | PendingOp>;
  readonly #records: ReturnType<typeof ownOps>;
  #refused = 0;

  constructor(
    boot: TransactionBoot,
    private readonly ledger: HalfLedger,
    private readonly context: ServiceContext,
  ) {
    this.#end = new StoreEnd(boot.end);
    this.#records = ownOps(boot.host);
  }

  get table(): StoreEnd<unknown>['table'] {
    return this.#end.table;
  }

  get isReady(): boolean {
    return this.#end.isReady;
  }

  /** Something is on its way, or waits for room. */
  get isBusy(): boolean {
    return this.#end.inFlight > 0 || this.#ops.length > 0;
  }

  /** Nothing is on its way, and no op is owed. */
  get isSettled(): boolean {
    return this.#end.inFlight === 0 && this.#owed.size === 0;
  }

  owes(half: number): boolean {
    return this.#owed.has(half);
  }

  takeWantedRows = (): ReturnType<StoreEnd<unknown>['takeWantedRows']> => this.#end.takeWantedRows();

  /** Puts a copy of the half at index `at` to the queue's end; `ask`: with one more question counted, which then waits in `questions`. */
  copy(at: number, record: Buffer, ask: boolean): Put {
    const { open } = this.ledger;
    const origin = open.origin(at);
    const noted: Record<string, number> = { [PropertyName.TRANSACTION_PREPARED_QUEUE_OFFSET]: origin };
    if (ask) noted[PropertyName.TRANSACTION_CHECK_TIMES] = open.checks(at) + 1;
    const copy = recordCopy(record, SystemTopic.TRANS_HALF, noted);
    const result = this.#put(copy, SystemTopic.TRANS_HALF, { kind: 'copy', half: open.offset(at), origin, ask });
    if (result === 'put') open.setState(at, HalfState.moving);
    return result;
  }

  /** Puts a copy of the half to where the halves go that are given up. */
  expire(at: number, record: Buffer): Put {
    const { open } = this.ledger;
    const topic = SystemTopic.TRANS_CHECK_MAX_TIME;
    const result = this.#put(recordCopy(record, topic, {}), topic, { kind: 'expiry', half: open.offset(at) });
    if (result === 'put') open.setState(at, HalfState.moving);
    return result;
  }

  /** An op is to be stored for this half. */
  owe(half: number, reason: OpReason, question?: Question): void {
    if (this.#owed.has(half)) return;
    const at = this.ledger.open.indexOf(half);
    if (at >= 0) this.ledger.open.setState(at, HalfState.closing);
    this.#owed.add(half);
    this.#ops.push({ kind: 'op', half, reason, ...(question === undefined ? {} : { question }) });
  }

  ask(question: Question): void {
    this.questions.push(question);
    this.#end.postMail();
  }

  /** Those that could not be stored before are tried again. */
  retry(): void {
    this.#ops.push(...this.#failedOps.splice(0));
  }

  /** Hands over what is owed, as far as there is room, and what was put. */
  publish(): void {
    let written = 0;
    while (written < this.#ops.length && this.#writeOp(this.#ops[written])) written++;
    if (written > 0) this.#ops = this.#ops.slice(written);
    this.#end.publish();
  }

  collect(): void {
    this.#end.collect((pending, status, start) => {
      if (status === SlotStatus.stored) this.#stored(pending, start);
      else this.#failed(pending);
    });
  }

  /** How many units the log did not take since the last look. */
  takeRefused(): number {
    const refused = this.#refused;
    this.#refused = 0;
    return refused;
  }

  #put(copy: RecordCopy | undefined, topic: string, pending: PendingCopy | PendingExpiry): Put {
    if (copy === undefined || !this.#end.canEverFit(copy.bytes)) return 'impossible';
    const row = this.#end.row(topic, 0);
    const at = row < 0 ? -1 : this.#end.reserve(copy.bytes);
    if (at < 0) return 'full';
    writeRecordCopy(copy, this.#end.bytes, at);
    this.#end.commit(copy.bytes, row, 1, pending);
    return 'put';
  }

  #writeOp(op: PendingOp): boolean {
    const record = this.#records[op.reason];
    const size = record.sizeFor(op.half);
    const row = this.#end.row(SystemTopic.TRANS_OP_HALF, 0);
    const at = row < 0 ? -1 : this.#end.reserve(size);
    if (at < 0) return false;
    record.write(this.#end.view, at, op.half, this.context.clock.wallMs());
    this.#end.commit(size, row, 1, op);
    return true;
  }

  #stored(pending: PendingCopy | PendingExpiry | PendingOp, start: number): void {
    if (pending.kind === 'expiry') return this.owe(pending.half, 'expired');
    if (pending.kind === 'copy') {
      const { half, origin, ask } = pending;
      const [queueOffset, physicalOffset] = [
        queueOffsetAt(this.#end.view, start),
        physicalOffsetAt(this.#end.view, start),
      ];
      return this.owe(half, 'putBack', ask ? { queueOffset, physicalOffset, origin } : undefined);
    }
    const { half, question } = pending;
    this.#owed.delete(half);
    this.ledger.close(half);
    if (question === undefined || this.ledger.isDecided(half) || this.ledger.isDecided(question.origin)) return;
    this.ask(question);
  }

  #failed(pending: PendingCopy | PendingExpiry | PendingOp): void {
    this.#refused++;
    if (pending.kind === 'op') {
      this.#failedOps.push(pending);
      return;
    }
    const { open } = this.ledger;
    const at = open.indexOf(pending.half);
    if (at < 0) return;
    if (this.ledger.isDecided(pending.half)) open.close(at);
    else open.setState(at, HalfState.known);
  }
}
