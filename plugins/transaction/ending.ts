import type { Request } from '../../protocol/command.js';
import { queueOffsetAt } from '../../protocol/message/stamped.js';
import type { AppendStatus, PendingAppend } from '../commitlog/contract.js';
import type { Connection, Reply } from '../remoting/contract.js';
import { SameAnswer } from '../../protocol/same-answer.js';
import type { Decision } from './contract.js';
import type { HalfRecord } from './half-record.js';

/** Who waits for the end of a transaction. */
interface Asker {
  readonly connection: Connection;
  readonly request: Pick<Request, 'opaque' | 'serialize' | 'oneway'>;
}

/** Where the two records of an ending lead to. */
export interface EndingSteps {
  finalStored(ending: Ending): void;
  /** Nothing was stored, and the half is as open as before. */
  finalRefused(ending: Ending, status: AppendStatus, reason: string): void;
  opSettled(ending: Ending, status: AppendStatus, reason: string): void;
}

/** One transaction on its way to its end: first its final message is stored, when there is one, then the op record. */
export class Ending implements PendingAppend {
  /** Which of the two records lies in the ring. */
  stage: 'final' | 'op';
  /** Queue offset of the op record; -1 before it is stored. */
  opOffset = -1;
  isAnswered = false;
  /** Queue offset of the half that was named. */
  readonly halfOffset: number;
  readonly origin: number;
  readonly #waits: boolean;
  readonly #askers: Asker[] = [];

  constructor(
    private readonly steps: EndingSteps,
    readonly decision: Decision,
    half: HalfRecord,
  ) {
    this.stage = decision === 'committed' ? 'final' : 'op';
    this.halfOffset = half.queueOffset;
    this.origin = half.origin;
    this.#waits = half.waitStore;
  }

  /** The op record stands behind the final message: when it is synced, both are. */
  get waitStore(): boolean {
    return this.stage === 'op' && this.#waits && this.#askers.length > 0;
  }

  ask(connection: Connection, { opaque, serialize, oneway }: Asker['request']): void {
    if (!oneway) this.#askers.push({ connection, request: { opaque, serialize, oneway } });
  }

  answer(reply: Reply | SameAnswer): void {
    for (const { connection, request } of this.#askers) {
      if (connection.closed) continue;
      if (reply instanceof SameAnswer) answerSame(connection, request, reply);
      else connection.reply(request, reply);
    }
    this.#askers.length = 0;
    this.isAnswered = true;
  }

  appended(ring: DataView, start: number): void {
    if (this.stage === 'op') this.opOffset = queueOffsetAt(ring, start);
  }

  settle(status: AppendStatus, reason: string): void {
    if (this.stage === 'op') this.steps.opSettled(this, status, reason);
    else if (status === 'stored') this.steps.finalStored(this);
    else this.steps.finalRefused(this, status, reason);
  }
}

export function answerSame(connection: Connection, to: Asker['request'], answer: SameAnswer): void {
  if (to.oneway) return;
  const at = connection.reserve(answer.bytesMax);
  connection.written(answer.write(connection.outbound, at, to.opaque, to.serialize));
}
