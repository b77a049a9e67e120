import { ResponseCode } from '../../../protocol/codes.js';
import { RawClient } from '../../support/raw-client.js';
import type { SeededRandom } from '../../support/seeded-random.js';
import { propertyText, send } from '../../support/send-pull.js';
import { Bodies } from './bodies.js';
import { nowMs } from './lives.js';

/** What decides when a message is due: a level's delay after its store time, or a time that its properties name. */
export type Wish = { readonly level: number } | { readonly property: string; readonly value: number };

/** One delayed send; its place in the ledger is the sequence in its body. */
export interface Delayed {
  readonly queueId: number;
  readonly wish: Wish;
  /** Before the request was written, whole milliseconds of the wall clock. */
  readonly askedWallMs: number;
  outcome: 'open' | 'acked' | 'refused' | 'unknown';
}

export interface DelayShape {
  readonly topic: string;
  readonly queues: number;
  readonly levelsMs: readonly number[];
  /** Of messages that name a time of their own; 0: there are none. */
  readonly anyDelayMaxMs: number;
}

const CONNECTIONS = 4;
const PRODUCER = 0;
const BODY_BYTES_MAX = 300;

/** Sends messages with every kind of delay and keeps what was answered, outside of the broker. */
export class DelayedLoad {
  readonly sent: Delayed[] = [];
  readonly bodies: Bodies;
  acked = 0;
  /** Answers that only a broker whose disk fails may give; the others that refuse are of one that is about to stop. */
  readonly strange: string[] = [];

  constructor(
    readonly shape: DelayShape,
    private readonly random: SeededRandom,
  ) {
    this.bodies = new Bodies(random.below(2 ** 31), BODY_BYTES_MAX);
  }

  /** Sends so many at once, resolves when each is answered or its connection gone. `onAcked`: how many of these so far. */
  async send(port: number, count: number, onAcked: (acked: number) => void = () => undefined): Promise<void> {
    const clients = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => RawClient.connect(`127.0.0.1:${port}`)),
    );
    let acked = 0;
    const sends = Array.from({ length: count }, async (_, i) => {
      if (await this.#sendOne(clients[i % CONNECTIONS]!)) onAcked(++acked);
    });
    await Promise.all(sends);
    for (const client of clients) client[Symbol.dispose]();
  }

  async #sendOne(client: RawClient): Promise<boolean> {
    const { topic, queues } = this.shape;
    const sequence = this.sent.length;
    const wish = this.#wish();
    const delayed: Delayed = { queueId: this.random.below(queues), wish, askedWallMs: nowMs(), outcome: 'open' };
    this.sent.push(delayed);
    const delay: Record<string, string> =
      'level' in wish ? { DELAY: `${wish.level}` } : { [wish.property]: `${wish.value}` };
    const properties = propertyText({ UNIQ_KEY: `${PRODUCER}-${sequence}`, WAIT: 'true', ...delay });
    const body = this.bodies.make(PRODUCER, sequence);
    const answer = await send(client, { topic, queueId: delayed.queueId, properties, body }).catch(() => undefined);
    if (answer === undefined) delayed.outcome = 'unknown';
    else if (answer.code === ResponseCode.SUCCESS) delayed.outcome = 'acked';
    else if (answer.code === ResponseCode.SERVICE_NOT_AVAILABLE) delayed.outcome = 'refused';
    else {
      delayed.outcome = 'unknown';
      this.strange.push(`send ${sequence} ${JSON.stringify(wish)} was answered ${answer.code}: ${answer.remark}`);
    }
    if (delayed.outcome === 'acked') this.acked++;
    return delayed.outcome === 'acked';
  }

  /** Any level, one above the highest now and then, or a time in one of the three forms. */
  #wish(): Wish {
    const { random } = this;
    const { levelsMs, anyDelayMaxMs } = this.shape;
    if (anyDelayMaxMs === 0 || random.chance(0.6)) {
      const level = 1 + random.below(levelsMs.length);
      return { level: random.chance(0.02) ? 99 : level };
    }
    const delayMs = 1 + random.below(anyDelayMaxMs);
    const dice = random.next();
    if (dice < 0.2) return { property: 'TIMER_DELAY_SEC', value: Math.ceil(delayMs / 1000) };
    if (dice < 0.4) return { property: 'TIMER_DELAY_MS', value: delayMs };
    return { property: 'TIMER_DELIVER_MS', value: nowMs() + delayMs };
  }
}
