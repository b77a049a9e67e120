import { Fifo } from '../../kernel/base/fifo.js';
import { inject, injectable } from '../../kernel/container.js';
import { Clock } from '../../kernel/tokens.js';
import { RequestCode } from '../../protocol/codes.js';
import { encodeNotifyConsumerIdsChanged } from '../../protocol/headers/notify-consumer-ids-changed.js';
import type { Connection } from '../remoting/contract.js';
import type { Group } from './consumer-group.js';

/** Smaller groups are told at the end of the turn, always. */
const LARGE_GROUP = 16;
/** Members of large groups told per millisecond; each costs a write to a socket, some 30 µs. */
const TOLD_PER_MS = 5;
/** However much there is to tell, no group waits longer before its turn comes. */
const WAIT_MS_MAX = 2000;
/** Told in one turn; a few milliseconds. Whoever asks meanwhile waits no longer. */
const TOLD_PER_TURN = 128;

interface Waiting {
  readonly group: Group;
  readonly deadlineMonoMs: number;
}

/**
 * Tells the members of a group that it changed, once for all changes of a turn, and in large groups for all of up to two seconds: while
 * ten thousand members come one after the other, each telling everybody would be fifty million notifications.
 */
@injectable()
export class Notifier {
  readonly #clock: Clock;
  readonly #changed = new Set<Group>();
  readonly #large = new Fifo<Waiting>(16);
  /** Until then the large groups told last have used up what may be told. */
  #freeMonoMs = -Infinity;
  #running = false;

  constructor(@inject(Clock) clock: Clock) {
    this.#clock = clock;
  }

  changed(group: Group): void {
    if (this.#changed.has(group)) return;
    this.#changed.add(group);
    setImmediate(() => this.#turnEnded(group));
  }

  #turnEnded(group: Group): void {
    if (group.members.count < LARGE_GROUP) {
      const { connections, ext } = this.#begin(group);
      tell(connections, 0, connections.length, ext);
      return;
    }
    this.#large.push({ group, deadlineMonoMs: this.#clock.monoMs() + WAIT_MS_MAX });
    if (!this.#running) this.#next();
  }

  /** The first large group, when it may be told; one after the other. */
  #next(): void {
    const first = this.#large.peek();
    this.#running = first !== undefined;
    if (first === undefined) return;
    const now = this.#clock.monoMs();
    const waitMs = Math.min(this.#freeMonoMs, first.deadlineMonoMs) - now;
    if (waitMs > 0) {
      setTimeout(() => this.#next(), waitMs).unref();
      return;
    }
    this.#large.shift();
    const { connections, ext } = this.#begin(first.group);
    this.#freeMonoMs = Math.max(this.#freeMonoMs, now) + connections.length / TOLD_PER_MS;
    this.#tellFrom(0, connections, ext);
  }

  #tellFrom(start: number, connections: readonly Connection[], ext: Readonly<Record<string, string>>): void {
    const end = Math.min(start + TOLD_PER_TURN, connections.length);
    tell(connections, start, end, ext);
    setImmediate(() => {
      if (end < connections.length) this.#tellFrom(end, connections, ext);
      else this.#next();
    });
  }

  /** Those that come from now on are a change of their own. */
  #begin(group: Group): { connections: Connection[]; ext: Readonly<Record<string, string>> } {
    this.#changed.delete(group);
    const connections = Array.from(group.members.all(), ({ connection }) => connection);
    return { connections, ext: encodeNotifyConsumerIdsChanged({ consumerGroup: group.group }) };
  }
}

function tell(
  connections: readonly Connection[],
  start: number,
  end: number,
  ext: Readonly<Record<string, string>>,
): void {
  for (let i = start; i < end; i++) {
    const connection = connections[i];
    if (!connection.closed) connection.notify(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, ext);
  }
}
