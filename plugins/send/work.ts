import { LastView } from '../../protocol/copy.js';
import type { Request } from '../../protocol/command.js';
import type { TopicConfig } from '../../protocol/bodies/topic-config.js';
import { SendFields } from '../../protocol/headers/send-message-fast.js';
import type { Connection } from '../remoting/contract.js';

/** Why a send is refused: answered at once, nothing stored. */
export interface Refusal {
  readonly code: number;
  readonly remark: string;
}

/**
 * The send that is being looked at. There is one, filled in anew for each request: the steps of the send path read and write it, and
 * are done with it when they return.
 */
export class SendWork {
  readonly fields = new SendFields();
  readonly #chunk = new LastView();
  readonly #texts = new LastView();
  request!: Request;
  connection!: Connection;
  topic = '';
  config!: TopicConfig;
  /** The topic is new: the write that brings it into its file. */
  topicSaved: Promise<void> | undefined;
  queueId = 0;
  /** The queue that the answer names: a dead letter's is the one that was asked for, as in 4.9. */
  answeredQueueId = 0;
  sysFlag = 0;
  refusal: Refusal | undefined;

  /** What the request's body lies in. */
  get source(): DataView {
    return this.#chunk.of(this.request.buffer);
  }

  /** What its properties lie in. */
  get propertySource(): DataView {
    const { buffer } = this.fields;
    return (buffer === this.request.buffer ? this.#chunk : this.#texts).of(buffer);
  }

  /** Always false, so that a step ends with `return work.refuse(…)`. */
  refuse(code: number, remark: string): false {
    this.refusal = { code, remark };
    return false;
  }
}

/** One step of the send path; false when it refused. */
export type SendStep = (work: SendWork) => boolean;
