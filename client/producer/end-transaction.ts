import { messageOf } from '../../kernel/base/errors.js';
import { RequestCode, SysFlag } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { decodeCheckTransactionState } from '../../protocol/headers/check-transaction-state.js';
import { encodeEndTransaction, type EndTransactionRequestHeader } from '../../protocol/headers/end-transaction.js';
import { PropertyName } from '../../protocol/message/properties.js';
import { decodeRecord } from '../../protocol/message/record.js';
import { ClientError } from '../errors.js';
import type { ReceivedMessage } from '../message.js';
import { received } from '../received.js';
import type { Call } from '../transport/channel.js';
import type { ClientCore } from '../transport/client-core.js';

/** How a transaction ended. `unknown`: not yet, or nobody can say; the broker asks again. */
export type TransactionState = 'commit' | 'rollback' | 'unknown';

const FLAGS: Readonly<Record<TransactionState, number>> = {
  commit: SysFlag.TRANSACTION_COMMIT,
  rollback: SysFlag.TRANSACTION_ROLLBACK,
  unknown: SysFlag.TRANSACTION_NOT,
};

/** The request that tells a broker how a transaction ended. */
export function endCall(
  state: TransactionState,
  remark: string | undefined,
  header: Omit<EndTransactionRequestHeader, 'commitOrRollback'>,
): Call {
  const ext = encodeEndTransaction({ ...header, commitOrRollback: FLAGS[state] });
  return { code: RequestCode.END_TRANSACTION, ext, remark };
}

/** What a callback returned; JavaScript may return anything. */
export function stateFrom(value: unknown): TransactionState {
  if (typeof value === 'string' && Object.hasOwn(FLAGS, value)) return value as TransactionState;
  throw new ClientError('ILLEGAL_ARGUMENT', `the transaction's state is ${JSON.stringify(value)}`, {
    remedy: "return 'commit', 'rollback' or 'unknown'",
  });
}

/** Checks that wait; the broker asks again for those beyond it. 4.9: TransactionMQProducer.checkRequestHoldMax. */
const WAITING_MAX = 2000;

export interface Checking {
  readonly group: string;
  readonly check: (message: ReceivedMessage) => Promise<TransactionState>;
  /** Checks that run at the same time. */
  readonly atOnce: number;
}

/** Answers brokers that ask what became of a transaction. 4.9: DefaultMQProducerImpl#checkTransactionState. */
export function serveChecks(core: ClientCore, checking: Checking): void {
  const waiting: Question[] = [];
  let running = 0;
  const next = async (question: Question): Promise<void> => {
    running++;
    await answer(core, checking, question);
    running--;
    const following = waiting.shift();
    if (following !== undefined) void next(following);
  };
  core.transport.handle(RequestCode.CHECK_TRANSACTION_STATE, (request, from) => {
    let question: Question;
    try {
      question = questionIn(request, from);
    } catch (error) {
      // One-way: nobody hears an error's answer.
      core.logger.warn({ broker: from, problem: messageOf(error) }, 'unreadable check of a transaction');
      return undefined;
    }
    if (question.group !== checking.group)
      core.logger.warn({ broker: from, group: question.group }, 'asked about a transaction of another group');
    else if (running < checking.atOnce) void next(question);
    else if (waiting.length < WAITING_MAX) waiting.push(question);
    else core.logger.warn({ broker: from, waiting: WAITING_MAX }, 'too many checks of transactions, one dropped');
    return undefined;
  });
}

interface Question {
  readonly header: ReturnType<typeof decodeCheckTransactionState>;
  readonly message: ReceivedMessage;
  readonly bodyProblem: string | undefined;
  readonly group: string | undefined;
  readonly broker: string;
}

function questionIn(request: Request, broker: string): Question {
  const header = decodeCheckTransactionState(request.ext);
  const { message, bodyProblem } = received(decodeRecord(request.body, 0), header.bname ?? '');
  return { header, message, bodyProblem, group: message.properties.get(PropertyName.PRODUCER_GROUP), broker };
}

async function answer(core: ClientCore, { group, check }: Checking, question: Question): Promise<void> {
  const { header, message, bodyProblem, broker } = question;
  const { msgId, topic } = message;
  let state: TransactionState = 'unknown';
  let remark: string | undefined;
  try {
    if (bodyProblem !== undefined) throw new Error(`unreadable body: ${bodyProblem}`);
    state = stateFrom(await check(message));
  } catch (error) {
    remark = `checkLocalTransaction: ${messageOf(error)}`;
    core.logger.warn({ topic, msgId, problem: messageOf(error) }, 'check of a transaction failed: state unknown');
  }
  const call = endCall(state, remark, {
    producerGroup: group,
    tranStateTableOffset: header.tranStateTableOffset,
    commitLogOffset: header.commitLogOffset,
    fromTransactionCheck: true,
    msgId,
    transactionId: header.transactionId,
    bname: header.bname,
  });
  try {
    await core.transport.oneway(broker, call);
  } catch (error) {
    core.logger.warn({ topic, msgId, broker, state, problem: messageOf(error) }, 'a check could not be answered');
  }
}
