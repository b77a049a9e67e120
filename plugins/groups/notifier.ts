import { inject, injectable } from '../../kernel/container.js';
import { Clock } from '../../kernel/tokens.js';
import { RequestCode } from '../../protocol/codes.js';
import { encodeNotifyConsumerIdsChanged } from '../../protocol/headers/notify-consumer-ids-changed.js';
import type { Group } from './consumer-group.js';

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
    const ext = encodeNotifyConsumerIdsChanged({ consumerGroup: group.group });
    let told = 0;
    for (const { connection } of group.members.all()) {
      if (connection.closed) continue;
      connection.notify(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, ext);
      told++;
    }
    if (told >= LARGE_GROUP) group.quietUntilMonoMs = this.#clock.monoMs() + told / TOLD_PER_MS;
  }
}
