import type { CompiledFilter } from '../filter/contract.js';
import type { RecordSlice } from './hot-blocks.js';

/** How a look into a queue ended; the names are the remark of the answer (4.9: GetMessageStatus). */
export type SelectionStatus =
  | 'FOUND'
  | 'NO_MATCHED_MESSAGE'
  | 'MESSAGE_WAS_REMOVING'
  | 'OFFSET_FOUND_NULL'
  | 'OFFSET_OVERFLOW_BADLY'
  | 'OFFSET_OVERFLOW_ONE'
  | 'OFFSET_TOO_SMALL'
  | 'NO_MESSAGE_IN_QUEUE';

/** What one pull asks of the store. */
export interface SelectRequest {
  readonly topic: string;
  readonly queueId: number;
  readonly offset: number;
  readonly maxMessages: number;
  readonly filter: CompiledFilter;
}

/** What it got. */
export interface Selection {
  readonly status: SelectionStatus;
  readonly nextOffset: number;
  readonly minOffset: number;
  readonly maxOffset: number;
  /** How many messages were found. */
  readonly messages: number;
  /** Their records in order, neighbours in memory as one; valid until the next pull is looked at: copied at once. */
  readonly slices: readonly RecordSlice[];
  readonly bytes: number;
  /** How far the last unit that was looked at lies behind the log's end; -1 when none was. */
  readonly behindBytes: number;
  /** The consumer is so far behind that a slave should serve it. */
  readonly slow: boolean;
}
