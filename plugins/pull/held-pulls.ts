import type { Request } from '../../protocol/command.js';
import type { Connection } from '../remoting/contract.js';
import type { SelectRequest } from './selection.js';

/** A pull that found nothing and waits for an arrival. */
export interface HeldPull {
  readonly request: Request;
  readonly connection: Connection;
  readonly select: SelectRequest;
  readonly deadlineMonoMs: number;
  /** Up to here the queue was looked through in vain. */
  lookedTo: number;
  /** A look at records is under way. */
  looking: boolean;
}

/** Pulls that wait, by queue (4.9: PullRequestHoldService). */
export class HeldPulls {
  readonly #byTopic = new Map<string, Map<number, Set<HeldPull>>>();
  readonly #byConnection = new Map<Connection, Set<HeldPull>>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(held: HeldPull): void {
    const { topic, queueId } = held.select;
    let queues = this.#byTopic.get(topic);
    if (queues === undefined) this.#byTopic.set(topic, (queues = new Map()));
    addTo(queues, queueId, held);
    addTo(this.#byConnection, held.connection, held);
    this.#count++;
  }

  /** False when it was not held any more. */
  remove(held: HeldPull): boolean {
    const { topic, queueId } = held.select;
    const queues = this.#byTopic.get(topic);
    if (queues === undefined || !removeFrom(queues, queueId, held)) return false;
    if (queues.size === 0) this.#byTopic.delete(topic);
    removeFrom(this.#byConnection, held.connection, held);
    this.#count--;
    return true;
  }

  of(topic: string, queueId: number): ReadonlySet<HeldPull> | undefined {
    return this.#byTopic.get(topic)?.get(queueId);
  }

  /** Nobody waits for the answers of a closed connection. */
  drop(connection: Connection): void {
    for (const held of [...(this.#byConnection.get(connection) ?? [])]) this.remove(held);
  }

  all(): HeldPull[] {
    return [...this.#byTopic.values()].flatMap((queues) => [...queues.values()].flatMap((pulls) => [...pulls]));
  }
}

function addTo<K>(map: Map<K, Set<HeldPull>>, key: K, held: HeldPull): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([held]));
  else set.add(held);
}

function removeFrom<K>(map: Map<K, Set<HeldPull>>, key: K, held: HeldPull): boolean {
  const set = map.get(key);
  if (set === undefined || !set.delete(held)) return false;
  if (set.size === 0) map.delete(key);
  return true;
}
