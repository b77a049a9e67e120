import type { BrokerTarget, TopicQueue } from './load.js';

/** What one connection of a pulling load takes. */
export interface Share {
  readonly target: BrokerTarget;
  readonly queues: readonly TopicQueue[];
}

/** Connection `index` talks to one broker and shares its queues with the other connections to it; one without queues is left out. */
export function sharesOf(targets: readonly BrokerTarget[], connections: number): Share[] {
  return Array.from({ length: Math.max(connections, targets.length) }, (_, index) => {
    const target = targets[index % targets.length]!;
    const lanesOfBroker = Math.ceil(
      (Math.max(connections, targets.length) - (index % targets.length)) / targets.length,
    );
    const lane = Math.floor(index / targets.length);
    return { target, queues: target.queues.filter((_queue, at) => at % lanesOfBroker === lane) };
  }).filter(({ queues }) => queues.length > 0);
}
