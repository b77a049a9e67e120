import { ResponseCode } from '../../protocol/codes.js';
import type { EndFields } from '../../protocol/headers/end-transaction-fast.js';
import { SameAnswer } from '../../protocol/same-answer.js';
import type { AppendStatus } from '../commitlog/contract.js';
import type { Reply } from '../remoting/contract.js';
import type { Decision } from './contract.js';
import type { HalfRecord } from './half-record.js';

export const COMMITTED = new SameAnswer({ code: ResponseCode.SUCCESS });
/** 4.9: RemotingCommand#createResponseCommand, whose remark nobody changes. */
export const ROLLED_BACK = new SameAnswer({ code: ResponseCode.SUCCESS, remark: 'not set any response code' });
export const NOT_FOUND = wrong('Find prepared transaction message failed');

export function wrong(remark: string): Reply {
  return { code: ResponseCode.SYSTEM_ERROR, remark };
}

/** Why the half is not the one that is meant (4.9: EndTransactionProcessor#checkPrepareMessage). */
export function halfProblem(half: HalfRecord, header: EndFields): Reply | undefined {
  if (half.producerGroup !== header.producerGroup) return wrong('The producer group wrong');
  if (half.queueOffset !== header.tranStateTableOffset) return wrong('The transaction state table offset wrong');
  if (half.physicalOffset !== header.commitLogOffset) return wrong('The commit log offset wrong');
  return undefined;
}

/** 4.9: EndTransactionProcessor#sendFinalMessage. */
export function finalRefusal(status: AppendStatus, reason: string, maxMessageSize: number): Reply {
  if (status !== 'tooLarge')
    return { code: ResponseCode.SERVICE_NOT_AVAILABLE, remark: `Service not available now. ${reason}` };
  const limits = `msg body length limit ${maxMessageSize}B, msg properties length limit 32KB.`;
  const remark = `The message is illegal, maybe msg body or properties length not matched. ${limits} ${reason}`;
  return { code: ResponseCode.MESSAGE_ILLEGAL, remark };
}

/** Undefined when it counts as done: a sync that takes too long does, as in 4.9; one that failed does not. */
export function opRefusal(status: AppendStatus, reason: string, decision: Decision): Reply | undefined {
  if (status === 'stored' || status === 'flushTimeout') return undefined;
  if (status !== 'flushFailed' && decision === 'committed') return undefined;
  return { code: ResponseCode.SERVICE_NOT_AVAILABLE, remark: `Service not available now. ${reason}` };
}
