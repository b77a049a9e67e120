import { inject, injectable } from '../../kernel/container.js';
import { Clock } from '../../kernel/tokens.js';
import { RequestCode } from '../../protocol/codes.js';
import { encodeNotifyConsumerIdsChanged } from '../../protocol/headers/notify-consumer-ids-changed.js';
import type { Connection } from '../remoting/contract.js';
import type { Group } from './consumer-group.js';

/** Told in one turn; a millisecond or two. Whoever sends meanwhile waits no longer. */
const TOLD_PER_TURN = 128;
/** After telling so many members of one group, it rests for a millisecond; a group of 10,000 is told once a second. */
const TOLD_PER_MS = 10;
/** Smaller groups are told at the end of the turn, always. */
const LARGE_GROUP = 100;

/**
 * Tells the members of a group that it changed. Once for all changes of a turn, and in a large group for all of a short time: while
 * ten thousand members come one after the other, each telling everybody would be fifty million notifications.
 */
@injectable()
export class Notifier {
  readonly #clock: Clock;
  readonly #toTell = new Set<Group>();

  constructor(@inject(Clock) clock: Clock) {
    this.#clock = clock;
  }

  changed(group: Group): void {
    if (this.#toTell.has(group)) return;
    this.#toTell.add(group);
    const waitMs = group.quietUntilMonoMs - this.#clock.monoMs();
    if (waitMs > 0) setTimeout(() => this.#tell(group), waitMs).unref();
    else setImmediate(() => this.#tell(group));
  }

  #tell(group: Group): void {
    this.#toTell.delete(group);
    const connections = Array.from(group.members.all(), ({ connection }) => connection);
    if (connections.length >= LARGE_GROUP)
      group.quietUntilMonoMs = this.#clock.monoMs() + connections.length / TOLD_PER_MS;
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
