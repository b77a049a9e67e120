import type { Clock } from '../../kernel/base/clock.js';
import { readAnswer, writeOpaque, type Answer, type HeaderForm } from './frames.js';
import { Finish, LoadCounters, type BrokerTarget, type Load } from './load.js';
import { LoadSocket, type FrameSink } from './load-socket.js';
import { PullFrame, readRecords } from './message-frames.js';
import { settled } from './settled.js';

export interface PullSettings {
  readonly targets: readonly BrokerTarget[];
  readonly topic: string;
  readonly group: string;
  readonly form: HeaderForm;
  readonly perPull: number;
  readonly connections: number;
  /** Pulls in flight on each connection; never more than one per queue. */
  readonly window: number;
  /** Begin at offset 0 again when a queue is read to its end; otherwise the load finishes then. */
  readonly again: boolean;
}

const SUCCESS = 0;
const PULL_NOT_FOUND = 19;
const PULL_RETRY_IMMEDIATELY = 20;
const PULL_OFFSET_MOVED = 21;
const DRAIN_MS = 1000;

/** Reads the backlog of all queues as fast as it comes, several queues in parallel on each connection. */
export class PullLoad implements Load {
  readonly counters = new LoadCounters();
  readonly #finish = new Finish();
  readonly #lanes: PullLane[];

  private constructor(lanes: PullLane[]) {
    this.#lanes = lanes;
  }

  static async open(settings: PullSettings, clock: Clock): Promise<PullLoad> {
    const lanes: PullLane[] = [];
    const load = new PullLoad(lanes);
    const laneDone = (): void => {
      if (lanes.every((lane) => lane.done)) load.#finish.done();
    };
    try {
      for (let index = 0; index < settings.connections; index++) {
        const queues = queuesOfLane(settings, index);
        if (queues.length === 0) continue;
        const target = settings.targets[index % settings.targets.length]!;
        const lane = new PullLane(settings, queues, clock, load.counters, load.#finish, laneDone);
        lanes.push(lane);
        await lane.connect(target);
      }
    } catch (error) {
      await load.stop();
      throw error;
    }
    return load;
  }

  get finished(): Promise<void> {
    return this.#finish.promise;
  }

  start(): void {
    for (const lane of this.#lanes) lane.fill();
  }

  async stop(): Promise<void> {
    for (const lane of this.#lanes) lane.stopSending();
    await settled(() => this.#lanes.every((lane) => lane.idle), DRAIN_MS);
    for (const lane of this.#lanes) lane.close();
  }
}

/** Connection `index` talks to one broker and shares its queues with the other connections to it. */
function queuesOfLane(settings: PullSettings, index: number): number[] {
  const brokers = settings.targets.length;
  const target = settings.targets[index % brokers]!;
  const lanesOfBroker = Math.ceil((settings.connections - (index % brokers)) / brokers);
  const lane = Math.floor(index / brokers);
  return target.queueIds.filter((_, at) => at % lanesOfBroker === lane);
}

interface PulledQueue {
  readonly frame: PullFrame;
  offset: number;
  /** Messages read since the queue was begun: a queue that holds none is not begun again. */
  read: number;
  sentAtMs: number;
}

class PullLane implements FrameSink {
  readonly #settings: PullSettings;
  readonly #clock: Clock;
  readonly #counters: LoadCounters;
  readonly #finish: Finish;
  readonly #laneDone: () => void;
  readonly #queues: PulledQueue[];
  /** Queues that wait for their next pull; the slot of a request is the queue's index. */
  readonly #ready: number[];
  readonly #answer: Answer = { code: 0, slot: 0, bodyStart: 0 };
  readonly #records = { count: 0, nextOffset: 0 };
  #inFlight = 0;
  #open: number;
  #sending = true;
  #lost = false;
  #socket: LoadSocket | undefined;

  constructor(
    settings: PullSettings,
    queueIds: readonly number[],
    clock: Clock,
    counters: LoadCounters,
    finish: Finish,
    laneDone: () => void,
  ) {
    this.#settings = settings;
    this.#clock = clock;
    this.#counters = counters;
    this.#finish = finish;
    this.#laneDone = laneDone;
    this.#queues = queueIds.map((queueId) => ({
      frame: new PullFrame(settings.form, settings.topic, queueId, settings.group, settings.perPull),
      offset: 0,
      read: 0,
      sentAtMs: 0,
    }));
    this.#ready = this.#queues.map((_, index) => index);
    this.#open = this.#queues.length;
  }

  async connect(target: BrokerTarget): Promise<void> {
    this.#socket = await LoadSocket.open(target.host, target.port, this);
  }

  get idle(): boolean {
    return this.#inFlight === 0 || this.#lost;
  }

  /** Every queue of this connection was read to its end. */
  get done(): boolean {
    return this.#open === 0;
  }

  stopSending(): void {
    this.#sending = false;
  }

  close(): void {
    this.#socket?.close();
  }

  /** Sends the next pull of each queue that waits, as far as the window goes. */
  fill(): void {
    if (!this.#sending) return;
    while (this.#ready.length > 0 && this.#inFlight < this.#settings.window) {
      const slot = this.#ready.shift()!;
      const queue = this.#queues[slot]!;
      const frame = queue.frame.at(queue.offset);
      writeOpaque(frame.bytes, 0, frame, slot);
      queue.sentAtMs = this.#clock.monoMs();
      this.#inFlight++;
      this.#socket?.write(frame.bytes);
    }
  }

  frame(buffer: Buffer, start: number, end: number): void {
    const answer = this.#answer;
    readAnswer(buffer, start, end, answer);
    const queue = this.#queues[answer.slot];
    if (queue === undefined) throw new Error('answer to a pull never sent');
    this.#inFlight--;
    this.#counters.latency.record((this.#clock.monoMs() - queue.sentAtMs) * 1000);
    const wasAt = queue.offset;
    if (answer.code === SUCCESS) {
      readRecords(buffer, answer.bodyStart, end, this.#records);
      this.#counters.messages += this.#records.count;
      this.#counters.bytes += end - answer.bodyStart;
      queue.read += this.#records.count;
      queue.offset = this.#records.nextOffset;
    } else if (answer.code === PULL_RETRY_IMMEDIATELY || answer.code === PULL_OFFSET_MOVED) {
      queue.offset = nextOffsetIn(buffer, start, answer.bodyStart);
    } else if (answer.code !== PULL_NOT_FOUND) {
      this.#counters.error(answer.code);
    }
    if (queue.offset !== wasAt) this.#ready.push(answer.slot);
    else this.#endOf(queue, answer.slot);
  }

  chunkEnd(): void {
    this.fill();
  }

  failed(error: Error): void {
    this.#lost = true;
    this.#finish.failed(error);
  }

  #endOf(queue: PulledQueue, slot: number): void {
    if (this.#settings.again && queue.read > 0) {
      queue.offset = 0;
      queue.read = 0;
      this.#ready.push(slot);
    } else if (--this.#open === 0) {
      this.#laneDone();
    }
  }
}

const NEXT_OFFSET_KEY = Buffer.from('nextBeginOffset');

/** The digits that follow the field's name, in either header form. */
function nextOffsetIn(buffer: Buffer, from: number, to: number): number {
  let at = buffer.indexOf(NEXT_OFFSET_KEY, from);
  if (at < 0 || at >= to) throw new Error('pull answer without nextBeginOffset');
  at += NEXT_OFFSET_KEY.length;
  while (at < to && (buffer[at]! < 48 || buffer[at]! > 57)) at++;
  let value = 0;
  for (; at < to && buffer[at]! >= 48 && buffer[at]! <= 57; at++) value = value * 10 + buffer[at]! - 48;
  return value;
}
