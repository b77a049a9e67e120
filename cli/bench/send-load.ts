import type { Clock } from '../../kernel/base/clock.js';
import { readAnswer, writeOpaque, type Answer, type HeaderForm } from './frames.js';
import { Finish, LoadCounters, type BrokerTarget, type Load } from './load.js';
import { LoadSocket, type FrameSink } from './load-socket.js';
import { sendFrame, writeKey, type SendFrame } from './message-frames.js';
import { settled } from './settled.js';

export interface SendSettings {
  readonly targets: readonly BrokerTarget[];
  readonly topic: string;
  readonly form: HeaderForm;
  readonly bodyBytes: number;
  /** Messages per request; more than one is a batch. */
  readonly perRequest: number;
  /** Whether each message has a property KEYS, too. */
  readonly keys: boolean;
  readonly connections: number;
  /** Requests in flight on each connection. */
  readonly window: number;
}

const DRAIN_MS = 1000;

/** Keeps `window` sends in flight on each connection; all counting and patching is done without an object per message. */
export class SendLoad implements Load {
  readonly counters = new LoadCounters();
  readonly #finish = new Finish();
  readonly #lanes: SendLane[];

  private constructor(lanes: SendLane[]) {
    this.#lanes = lanes;
  }

  static async open(settings: SendSettings, clock: Clock): Promise<SendLoad> {
    const lanes: SendLane[] = [];
    const load = new SendLoad(lanes);
    try {
      for (let index = 0; index < settings.connections; index++) {
        const target = settings.targets[index % settings.targets.length]!;
        lanes.push(await SendLane.open(settings, target, index, clock, load.counters, load.#finish));
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
    for (const lane of this.#lanes) lane.start();
  }

  async stop(): Promise<void> {
    for (const lane of this.#lanes) lane.stopSending();
    await settled(() => this.#lanes.every((lane) => lane.idle), DRAIN_MS);
    for (const lane of this.#lanes) lane.close();
  }
}

class SendLane implements FrameSink {
  readonly #settings: SendSettings;
  readonly #clock: Clock;
  readonly #counters: LoadCounters;
  readonly #finish: Finish;
  readonly #frames: SendFrame[];
  readonly #answer: Answer = { code: 0, slot: 0, bodyStart: 0 };
  /** The opaque of a request is its slot: answers may come in any order, a slot is used again when its answer is there. */
  readonly #sentAtMs: Float64Array;
  readonly #freeSlots: Int32Array;
  #freeCount: number;
  #chunkMs = 0;
  #sending = true;
  #lost = false;
  #nextFrame: number;
  #nextKey: number;
  #socket: LoadSocket | undefined;

  private constructor(
    settings: SendSettings,
    target: BrokerTarget,
    index: number,
    clock: Clock,
    counters: LoadCounters,
    finish: Finish,
  ) {
    this.#settings = settings;
    this.#clock = clock;
    this.#counters = counters;
    this.#finish = finish;
    const shape = { ...settings, messages: settings.perRequest, bornTimestamp: clock.wallMs() };
    this.#frames = target.queueIds.map((queueId) => sendFrame({ ...shape, queueId }));
    this.#sentAtMs = new Float64Array(settings.window);
    this.#freeSlots = Int32Array.from({ length: settings.window }, (_, slot) => slot);
    this.#freeCount = settings.window;
    this.#nextFrame = index % this.#frames.length;
    this.#nextKey = index << 26;
  }

  static async open(
    settings: SendSettings,
    target: BrokerTarget,
    index: number,
    clock: Clock,
    counters: LoadCounters,
    finish: Finish,
  ): Promise<SendLane> {
    const lane = new SendLane(settings, target, index, clock, counters, finish);
    lane.#socket = await LoadSocket.open(target.host, target.port, lane);
    return lane;
  }

  get idle(): boolean {
    return this.#freeCount === this.#settings.window || this.#lost;
  }

  start(): void {
    this.#refill();
  }

  stopSending(): void {
    this.#sending = false;
  }

  close(): void {
    this.#socket?.close();
  }

  frame(buffer: Buffer, start: number, end: number): void {
    const answer = this.#answer;
    readAnswer(buffer, start, end, answer);
    if (answer.slot < 0 || answer.slot >= this.#settings.window) throw new Error('answer to a request never sent');
    if (this.#chunkMs === 0) this.#chunkMs = this.#clock.monoMs();
    this.#counters.latency.record((this.#chunkMs - this.#sentAtMs[answer.slot]!) * 1000);
    this.#freeSlots[this.#freeCount++] = answer.slot;
    if (answer.code === 0) {
      this.#counters.messages += this.#settings.perRequest;
      this.#counters.bytes += this.#settings.perRequest * this.#settings.bodyBytes;
    } else {
      this.#counters.error(answer.code);
    }
  }

  chunkEnd(): void {
    this.#chunkMs = 0;
    if (this.#sending && this.#freeCount > 0) this.#refill();
  }

  failed(error: Error): void {
    this.#lost = true;
    this.#finish.failed(error);
  }

  /** One request for each free slot, all in one buffer and one write. */
  #refill(): void {
    let size = 0;
    let next = this.#nextFrame;
    for (let index = 0; index < this.#freeCount; index++) {
      size += this.#frames[next]!.bytes.length;
      next = next + 1 === this.#frames.length ? 0 : next + 1;
    }
    const block = Buffer.allocUnsafe(size);
    const nowMs = this.#clock.monoMs();
    let at = 0;
    while (this.#freeCount > 0) {
      const slot = this.#freeSlots[--this.#freeCount]!;
      at = this.#put(block, at, slot);
      this.#sentAtMs[slot] = nowMs;
    }
    this.#socket?.write(block);
  }

  #put(block: Buffer, at: number, slot: number): number {
    const frame = this.#frames[this.#nextFrame]!;
    this.#nextFrame = this.#nextFrame + 1 === this.#frames.length ? 0 : this.#nextFrame + 1;
    const { bytes, keysAt } = frame;
    block.set(bytes, at);
    writeOpaque(block, at, frame, slot);
    for (let key = 0; key < keysAt.length; key++) writeKey(block, at + keysAt[key]!, this.#nextKey++);
    return at + bytes.length;
  }
}
