import { inject, injectable } from '../../kernel/container.js';
import { Perm } from '../../protocol/codes.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { PropertyName } from '../../protocol/message/properties.js';
import type { Place } from '../schedule/contract.js';
import { Topics } from '../topics/contract.js';
import type { Halves } from './contract.js';

const HALF_QUEUE_ID = 0;
const TOPICS_KEPT = 1024;

@injectable()
export class HalfTopic implements Halves {
  refusal: string | undefined;
  readonly #places = new Map<string, Map<number, Place>>();

  constructor(@inject(Topics) private readonly topics: Topics) {}

  place(topic: string, queueId: number): Place {
    // 4.9 has it from its first check on.
    if (this.topics.get(SystemTopic.TRANS_HALF) === undefined)
      this.topics.createInternal(SystemTopic.TRANS_HALF, 1, Perm.READ | Perm.WRITE, 0);
    return this.#places.get(topic)?.get(queueId) ?? this.#add(topic, queueId);
  }

  #add(topic: string, queueId: number): Place {
    const noted = { [PropertyName.REAL_TOPIC]: topic, [PropertyName.REAL_QUEUE_ID]: String(queueId) };
    const place = { topic: SystemTopic.TRANS_HALF, queueId: HALF_QUEUE_ID, noted };
    let ofTopic = this.#places.get(topic);
    if (ofTopic === undefined) {
      if (this.#places.size >= TOPICS_KEPT) this.#places.clear();
      this.#places.set(topic, (ofTopic = new Map<number, Place>()));
    }
    ofTopic.set(queueId, place);
    return place;
  }

  holdBack(reason: string | undefined): void {
    this.refusal = reason;
  }
}
