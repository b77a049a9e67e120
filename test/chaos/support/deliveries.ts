import { appendFileSync, readFileSync } from 'node:fs';
import { systemClock } from '../../../kernel/base/clock.js';

/** What happened to a message or a queue: a listener began, ended well, asked for another try; the lock of the queue was lost. */
type What = 'begin' | 'done' | 'later' | 'lost';

/** One call of a listener. Times are monotonic and comparable between processes of one machine. */
export interface Delivery {
  readonly member: string;
  readonly queueId: number;
  readonly offset: number;
  readonly beganMs: number;
  /** Infinity: it never ended. */
  endedMs: number;
  done: boolean;
  /** Afterwards the member lost the lock of the queue: others may have gone on from before this message. */
  lost: boolean;
}

/** Notes in a file, written at once, so that what was noted outlives a kill. */
export class Notes {
  constructor(private readonly file: string) {}

  write(group: string, what: What, queueId: number, offset: number): void {
    appendFileSync(this.file, `${group} ${what} ${queueId} ${offset} ${systemClock.monoMs()}\n`);
  }
}

/** The deliveries of a group that a member noted, in the order in which they began. */
export function deliveriesOf(file: string, group: string, member: string): Delivery[] {
  const deliveries: Delivery[] = [];
  const running = new Map<string, Delivery>();
  for (const line of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
    const [of, what, queue, at, time] = line.split(' ');
    if (of !== group) continue;
    const [queueId, offset, timeMs, key] = [Number(queue), Number(at), Number(time), `${queue}/${at}`];
    if (what === 'begin') {
      const one = { member, queueId, offset, beganMs: timeMs, endedMs: Infinity, done: false, lost: false };
      running.set(key, one);
      deliveries.push(one);
    } else if (what === 'lost') {
      for (const one of deliveries) if (one.queueId === queueId) one.lost = true;
    } else {
      const one = running.get(key)!;
      one.endedMs = timeMs;
      one.done = what === 'done';
    }
  }
  return deliveries;
}

/** How a member ended, and what its group had committed then, by queue. */
export interface MemberEnd {
  readonly how: 'left' | 'killed';
  readonly committed: ReadonlyMap<number, number>;
}

/**
 * What is wrong with the deliveries of one queue of an ordered group: two at a time, one left out, or one again that was done by a
 * member that was not killed, or that it had committed.
 */
export function orderProblems(
  deliveries: readonly Delivery[],
  ends: ReadonlyMap<string, MemberEnd>,
  maxOffset: number,
): string[] {
  const problems: string[] = [];
  const sorted = [...deliveries].sort((a, b) => a.beganMs - b.beganMs);
  let next = 0;
  let before: Delivery | undefined;
  for (const one of sorted) {
    const shown = `${one.member} of queue ${one.queueId} at ${one.offset}, wanted ${next}, after ${before?.member ?? 'nobody'}`;
    const end = before === undefined ? undefined : ends.get(before.member);
    const killed = before !== undefined && before.member !== one.member && end?.how === 'killed';
    if (before !== undefined && one.beganMs < before.endedMs && !(killed && before.endedMs === Infinity))
      problems.push(`two at a time: ${shown}`);
    if (one.offset > next) problems.push(`left out: ${shown}`);
    else if (one.offset < next) {
      const committed = killed ? (end?.committed.get(one.queueId) ?? 0) : 0;
      if (!killed && before?.lost !== true) problems.push(`again: ${shown}`);
      else if (one.offset < committed) problems.push(`again, although ${committed} was committed: ${shown}`);
    }
    next = one.done ? one.offset + 1 : one.offset;
    before = one;
  }
  if (next !== maxOffset) problems.push(`queue ${sorted[0]?.queueId} ends at ${next}, not at ${maxOffset}`);
  return problems;
}
