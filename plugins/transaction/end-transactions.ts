import { messageOf } from '../../kernel/base/errors.js';
import { Fifo } from '../../kernel/base/fifo.js';
import { inject, injectable } from '../../kernel/container.js';
import { Logger, Options } from '../../kernel/tokens.js';
import { ResponseCode, SysFlag } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { FieldError } from '../../protocol/fields.js';
import { EndFields } from '../../protocol/headers/end-transaction-fast.js';
import type { SameAnswer } from '../../protocol/same-answer.js';
import { AppendGate, type AppendStatus } from '../commitlog/contract.js';
import type { Connection, Reply } from '../remoting/contract.js';
import type { Decision } from './contract.js';
import { Decisions } from './decisions.js';
import { answerSame, Ending, type EndingSteps } from './ending.js';
import { FinalMessages } from './final-message.js';
import { HalfReader } from './half-reader.js';
import type { HalfRecord } from './half-record.js';
import { Ops } from './ops.js';
import { COMMITTED, finalRefusal, halfProblem, NOT_FOUND, opRefusal, ROLLED_BACK, wrong } from './replies.js';

const UNNOTED = 'the end of a transaction could not be noted; it is tried again every second';

interface Waiting {
  readonly request: Request;
  readonly connection: Connection;
}

/** END_TRANSACTION (37): stores the final message of what is committed, then the record that says that the half was ended. */
@injectable()
export class EndTransactions implements EndingSteps {
  readonly #fields = new EndFields();
  readonly #waiting = new Fifo<Waiting>(64);
  #reading = 0;

  constructor(
    @inject(AppendGate) private readonly gate: AppendGate,
    @inject(HalfReader) private readonly halves: HalfReader,
    @inject(FinalMessages) private readonly finals: FinalMessages,
    @inject(Ops) private readonly ops: Ops,
    @inject(Decisions) private readonly decisions: Decisions,
    @inject(Options) private readonly options: Options,
    @inject(Logger) private readonly logger: Logger,
  ) {
    gate.onRoom(() => this.#room());
  }

  /** What was taken and is not settled yet; what a full disk keeps from being settled does not count. */
  get unsettled(): number {
    return this.#waiting.size + this.#reading + this.decisions.underWay - this.ops.refused;
  }

  /** The request's bytes are looked at in place. What is handed over is published at the end of the socket's chunk. */
  handle(request: Request, connection: Connection): undefined {
    // Behind others that wait: what a producer ended first is stored first.
    if (this.#waiting.size > 0 || !this.#process(request, connection)) this.#wait(request, connection);
  }

  finalStored(ending: Ending): void {
    ending.stage = 'op';
    this.ops.put(ending);
  }

  finalRefused(ending: Ending, status: AppendStatus, reason: string): void {
    this.decisions.takeBack(ending);
    ending.answer(finalRefusal(status, reason, this.options.maxMessageSize));
  }

  opSettled(ending: Ending, status: AppendStatus, reason: string): void {
    const { decision, opOffset } = ending;
    const isStored = opOffset >= 0;
    if (isStored) this.decisions.settle(ending, opOffset);
    else if (decision === 'rolledBack') this.decisions.takeBack(ending);
    else {
      // The final message is stored. Until its op record is, too, only this life knows that it is.
      if (!ending.isAnswered) this.logger.warn({ half: ending.halfOffset, reason }, UNNOTED);
      this.ops.again(ending);
    }
    ending.answer(opRefusal(status, reason, decision) ?? successOf(decision));
  }

  /** False when the ring is full. */
  #process(request: Request, connection: Connection): boolean {
    this.#read(request);
    const { commitOrRollback, commitLogOffset } = this.#fields;
    if (commitOrRollback === SysFlag.TRANSACTION_NOT) {
      // 4.9 answers nothing, also when the producer waits for an answer.
      answerSame(connection, request, COMMITTED);
      return true;
    }
    if (this.halves.isHot(commitLogOffset)) return this.#end(this.halves.readNow(commitLogOffset), request, connection);
    if (this.#reading < this.options.pendingSendsMax)
      void this.#endLater(commitLogOffset, request.copied(), connection);
    else this.#busy(request, connection);
    return true;
  }

  /** Throws FieldError. */
  #read(request: Request): void {
    this.#fields.read(request);
    const { commitOrRollback: type } = this.#fields;
    if (
      type !== SysFlag.TRANSACTION_NOT &&
      type !== SysFlag.TRANSACTION_COMMIT &&
      type !== SysFlag.TRANSACTION_ROLLBACK
    )
      throw new FieldError('commitOrRollback', `is ${type}: 0 (unknown), 8 (commit) or 12 (rollback) are known`);
  }

  async #endLater(physicalOffset: number, request: Request, connection: Connection): Promise<void> {
    this.#reading++;
    try {
      const record = await this.halves.record(physicalOffset);
      this.#read(request);
      const half = record === undefined ? undefined : this.halves.halfOf(record);
      if (!this.#end(half, request, connection)) this.#wait(request, connection);
      this.gate.publish();
    } catch (error) {
      connection.reply(request, { code: ResponseCode.SYSTEM_ERROR, remark: messageOf(error) });
    } finally {
      this.#reading--;
    }
  }

  /** False when the ring is full. */
  #end(half: HalfRecord | undefined, request: Request, connection: Connection): boolean {
    const fields = this.#fields;
    const reply = half === undefined ? NOT_FOUND : (halfProblem(half, fields) ?? this.#storeProblem());
    if (half === undefined || reply !== undefined) {
      connection.reply(request, reply ?? NOT_FOUND);
      return true;
    }
    const decision = fields.commitOrRollback === SysFlag.TRANSACTION_COMMIT ? 'committed' : 'rolledBack';
    if (this.#isDecided(half, decision, request, connection)) return true;
    if (this.ops.waiting > 0) return false;
    const ending = new Ending(this, decision, half);
    ending.ask(connection, request);
    if (decision === 'rolledBack') this.ops.put(ending);
    else {
      const handed = this.finals.put(half, ending);
      if (handed === 'ringFull') return false;
      if (handed !== 'handedOver') {
        ending.answer(this.#noMessage(half, handed));
        return true;
      }
    }
    this.decisions.begin(ending);
    return true;
  }

  /** Ended before, through this half or a copy of it: nothing more is stored (4.9 stores the message again, B22). */
  #isDecided(half: HalfRecord, decision: Decision, request: Request, connection: Connection): boolean {
    const before = this.decisions.of(half.origin);
    if (before === undefined) return false;
    if (before !== decision)
      this.logger.warn(
        { half: half.queueOffset, producerGroup: half.producerGroup, before, now: decision },
        'a transaction was ended in two ways; the first one counts',
      );
    const ending = this.decisions.ending(half.origin);
    if (ending !== undefined && !ending.isAnswered) ending.ask(connection, request);
    else answerSame(connection, request, successOf(decision));
    return true;
  }

  #storeProblem(): Reply | undefined {
    const { readOnlyReason, waiting } = this.gate;
    if (readOnlyReason !== undefined) return finalRefusal('readOnly', readOnlyReason, 0);
    const { pendingSendsMax } = this.options;
    if (waiting < pendingSendsMax) return undefined;
    const remark = `${pendingSendsMax} sends wait for the disk already (pendingSendsMax)`;
    return { code: ResponseCode.SYSTEM_BUSY, remark };
  }

  #noMessage(half: HalfRecord, { problem, tooLarge }: { problem: string; tooLarge?: boolean }): Reply {
    const { queueOffset, physicalOffset, producerGroup } = half;
    this.logger.error({ queueOffset, physicalOffset, producerGroup, problem }, 'a transaction cannot be committed');
    return tooLarge === true ? finalRefusal('tooLarge', problem, this.options.maxMessageSize) : wrong(problem);
  }

  #wait(request: Request, connection: Connection): void {
    if (this.#waiting.size < this.options.pendingSendsMax)
      this.#waiting.push({ request: request.copied(), connection });
    else this.#busy(request, connection);
  }

  #busy(request: Request, connection: Connection): void {
    const remark = `${this.options.pendingSendsMax} ends of transactions wait for the log already (pendingSendsMax)`;
    connection.reply(request, { code: ResponseCode.SYSTEM_BUSY, remark });
  }

  /** First the records of what was ended, then those who come with more. */
  #room(): void {
    this.ops.retry();
    while (this.#waiting.size > 0) {
      const { request, connection } = this.#waiting.peek()!;
      if (!this.#processLate(request, connection)) break;
      this.#waiting.shift();
    }
    this.gate.publish();
  }

  /** Nobody is above to answer what one of those that waited throws, and it must not keep the others. */
  #processLate(request: Request, connection: Connection): boolean {
    try {
      return this.#process(request, connection);
    } catch (error) {
      connection.reply(request, { code: ResponseCode.SYSTEM_ERROR, remark: messageOf(error) });
      return true;
    }
  }
}

function successOf(decision: Decision): SameAnswer {
  return decision === 'committed' ? COMMITTED : ROLLED_BACK;
}
