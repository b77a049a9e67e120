import { inject, injectable } from '../../kernel/container.js';
import { Clock } from '../../kernel/tokens.js';
import { RequestCode } from '../../protocol/codes.js';
import { encodeNotifyConsumerIdsChanged } from '../../protocol/headers/notify-consumer-ids-changed.js';
import type { Connection } from '../remoting/contract.js';
import type { Group } from './consumer-group.js';

/** Smaller groups are told at the end of the turn, always. */
const LARGE_GROUP = 16;
/** Members of large groups told per millisecond; each costs a write to a socket, some 20 µs. */
const TOLD_PER_MS = 10;
/** However much there is to tell, no group waits longer. */
const WAIT_MS_MAX = 1000;
/** Told in one turn; a millisecond or two. Whoever sends meanwhile waits no longer. */
const TOLD_PER_TURN = 128;

/**
 * Tells the members of a group that it changed, once for all changes of a turn, and in large groups for all of up to a second: while
 * ten thousand members come one after the other, each telling everybody would be fifty million notifications.
 */
@injectable()
export class Notifier {
  readonly #clock: Clock;
  readonly #waiting = new Set<Group>();
  /** Until then the large groups that were told last have used up what may be told. */
  #freeMonoMs = -Infinity;

  constructor(@inject(Clock) clock: Clock) {
    this.#clock = clock;
  }

  changed(group: Group): void {
    if (this.#waiting.has(group)) return;
    this.#waiting.add(group);
    const now = this.#clock.monoMs();
    if (group.members.count >= LARGE_GROUP && this.#freeMonoMs > now) this.#wait(group, now, now + WAIT_MS_MAX);
    else setImmediate(() => this.#tell(group));
  }

  #wait(group: Group, now: number, deadlineMonoMs: number): void {
    setTimeout(
      () => {
        const later = this.#clock.monoMs();
        if (this.#freeMonoMs <= later || deadlineMonoMs <= later) this.#tell(group);
        else this.#wait(group, later, deadlineMonoMs);
      },
      Math.min(this.#freeMonoMs, deadlineMonoMs) - now,
    ).unref();
  }

  #tell(group: Group): void {
    this.#waiting.delete(group);
    const connections = Array.from(group.members.all(), ({ connection }) => connection);
    if (connections.length >= LARGE_GROUP)
      this.#freeMonoMs = Math.max(this.#freeMonoMs, this.#clock.monoMs()) + connections.length / TOLD_PER_MS;
    tellFrom(0, connections, encodeNotifyConsumerIdsChanged({ consumerGroup: group.group }));
  }
}

/** Those that come meanwhile are told next time: they are a change of their own. */
function tellFrom(start: number, connections: readonly Connection[], ext: Readonly<Record<string, string>>): void {
  const end = Math.min(start + TOLD_PER_TURN, connections.length);
  for (let i = start; i < end; i++) {
    const connection = connections[i];
    if (!connection.closed) connection.notify(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, ext);
  }
  if (end < connections.length) setImmediate(() => tellFrom(end, connections, ext));
}
