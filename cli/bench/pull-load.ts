import type { Clock } from '../../kernel/base/clock.js';
import { Finish, LoadCounters, type BrokerTarget, type Load, type LoadDetail } from './load.js';
import { opened } from './opened.js';
import { PullLane, type PullContext } from './pull-lane.js';
import type { PullShape } from './pull-frames.js';
import { sharesOf } from './shares.js';
import { settled } from './settled.js';

export interface PullSettings extends Pick<PullContext, 'window'> {
  readonly targets: readonly BrokerTarget[];
  readonly shape: PullShape;
  readonly connections: number;
  /** Begin at offset 0 again when a queue is read to its end; otherwise the load finishes then. */
  readonly again: boolean;
}

const DRAIN_MS = 1000;

/** Reads the backlog of all queues as fast as it comes, several queues in parallel on each connection. */
export class PullLoad implements Load {
  readonly counters = new LoadCounters();
  readonly #finish = new Finish();
  readonly #lanes: PullLane[] = [];
  readonly #context: PullContext;

  private constructor({ shape, window, again }: PullSettings, clock: Clock) {
    const { counters } = this;
    const laneDone = (): void => {
      if (this.#lanes.every((lane) => lane.done)) this.#finish.done();
    };
    const atEnd = again ? 'again' : 'finish';
    const take = undefined;
    this.#context = { shape, window, atEnd, clock, counters, finish: this.#finish, scanned: 0, take, laneDone };
  }

  static open(settings: PullSettings, clock: Clock): Promise<PullLoad> {
    const load = new PullLoad(settings, clock);
    return opened(load, async () => {
      for (const { target, queues } of sharesOf(settings.targets, settings.connections)) {
        const lane = new PullLane(load.#context, queues, () => 0);
        load.#lanes.push(lane);
        await lane.connect(target);
      }
    });
  }

  get finished(): Promise<void> {
    return this.#finish.promise;
  }

  start(): void {
    for (const lane of this.#lanes) lane.fill();
  }

  begin(): void {
    this.counters.reset();
    this.#context.scanned = 0;
  }

  async stop(): Promise<void> {
    for (const lane of this.#lanes) lane.stopSending();
    await settled(() => this.#lanes.every((lane) => lane.idle), DRAIN_MS);
    for (const lane of this.#lanes) lane.close();
  }

  detail(): LoadDetail {
    return this.#context.shape.filter.expression === '*' ? {} : { scanned: this.#context.scanned };
  }
}
