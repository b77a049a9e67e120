import { inject, injectable } from '../../kernel/container.js';
import { Perm } from '../../protocol/codes.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { PropertyName } from '../../protocol/message/properties.js';
import type { Place } from '../schedule/contract.js';
import { Topics } from '../topics/contract.js';
import type { Halves } from './contract.js';

export const HALF_QUEUE_ID = 0;

@injectable()
export class HalfTopic implements Halves {
  refusal: string | undefined;

  constructor(@inject(Topics) private readonly topics: Topics) {}

  place(topic: string, queueId: number): Place {
    // 4.9 has it from its first check on.
    this.topics.createInternal(SystemTopic.TRANS_HALF, 1, Perm.READ | Perm.WRITE, 0);
    const noted = { [PropertyName.REAL_TOPIC]: topic, [PropertyName.REAL_QUEUE_ID]: String(queueId) };
    return { topic: SystemTopic.TRANS_HALF, queueId: HALF_QUEUE_ID, noted };
  }

  holdBack(reason: string | undefined): void {
    this.refusal = reason;
  }
}
