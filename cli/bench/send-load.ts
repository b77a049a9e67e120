import type { Clock } from '../../kernel/base/clock.js';
import { readAnswer, type Answer } from './frames.js';
import { Finish, LoadCounters, type BrokerTarget, type Load } from './load.js';
import { LoadSocket, type FrameSink } from './load-socket.js';
import type { Histogram } from './histogram.js';
import type { MessageShape } from './send-frames.js';
import type { FrameWriter, SendContext } from './frame-writer.js';
import { connectLanes, opened } from './opened.js';
import { settled } from './settled.js';

export interface SendSettings {
  readonly targets: readonly BrokerTarget[];
  readonly shape: MessageShape;
  readonly connections: number;
  /** Requests in flight on each connection. */
  readonly window: number;
}

/** What a sender tells of its answers when somebody else counts the messages. */
export interface SendCounts {
  readonly latency: Histogram;
  messages: number;
  bytes: number;
}

const DRAIN_MS = 1000;

/** Keeps `window` sends in flight on each connection; all counting and patching is done without an object per message. */
export class SendLoad implements Load {
  readonly counters: LoadCounters;
  readonly #finish: Finish;
  readonly #lanes: SendLane[] = [];

  private constructor({ counters, finish }: SendContext) {
    this.counters = counters;
    this.#finish = finish;
  }

  static open(settings: SendSettings, clock: Clock): Promise<SendLoad> {
    const counters = new LoadCounters();
    const context = { shape: settings.shape, clock, counters, finish: new Finish() };
    return SendLoad.openWith(settings, context, counters);
  }

  /** As part of another load, which has its own use for the counts. */
  static openWith(settings: SendSettings, context: SendContext, counts: SendCounts): Promise<SendLoad> {
    const load = new SendLoad(context);
    const make = (writer: FrameWriter): SendLane => new SendLane(context, counts, settings.window, writer);
    return opened(load, () => connectLanes(settings, context, load.#lanes, make));
  }

  get finished(): Promise<void> {
    return this.#finish.promise;
  }

  start(): void {
    for (const lane of this.#lanes) lane.start();
  }

  begin(): void {
    this.counters.reset();
  }

  /** Sends no more, and waits for the answers in flight. */
  async drain(): Promise<void> {
    for (const lane of this.#lanes) lane.stopSending();
    await settled(() => this.#lanes.every((lane) => lane.idle), DRAIN_MS);
  }

  async stop(): Promise<void> {
    await this.drain();
    for (const lane of this.#lanes) lane.close();
  }
}

class SendLane implements FrameSink {
  readonly #context: SendContext;
  readonly #counts: SendCounts;
  readonly #window: number;
  readonly #writer: FrameWriter;
  readonly #answer: Answer = { code: 0, slot: 0, bodyStart: 0 };
  /** The opaque of a request is its slot: answers may come in any order, a slot is used again when its answer is there. */
  readonly #sentAtMs: Float64Array;
  readonly #freeSlots: Int32Array;
  #freeCount: number;
  #chunkMs = 0;
  #sending = true;
  #lost = false;
  #socket: LoadSocket | undefined;

  constructor(context: SendContext, counts: SendCounts, window: number, writer: FrameWriter) {
    this.#context = context;
    this.#counts = counts;
    this.#window = window;
    this.#writer = writer;
    this.#sentAtMs = new Float64Array(window);
    this.#freeSlots = Int32Array.from({ length: window }, (_, slot) => slot);
    this.#freeCount = window;
  }

  async connect({ host, port }: BrokerTarget): Promise<void> {
    this.#socket = await LoadSocket.open(host, port, this);
  }

  get idle(): boolean {
    return this.#freeCount === this.#window || this.#lost;
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
    if (answer.slot < 0 || answer.slot >= this.#window) throw new Error('answer to a request never sent');
    const counts = this.#counts;
    if (this.#chunkMs === 0) this.#chunkMs = this.#context.clock.monoMs();
    counts.latency.record((this.#chunkMs - this.#sentAtMs[answer.slot]!) * 1000);
    this.#freeSlots[this.#freeCount++] = answer.slot;
    if (answer.code === 0) {
      const { perRequest, bodyBytes } = this.#context.shape;
      counts.messages += perRequest;
      counts.bytes += perRequest * bodyBytes;
    } else {
      this.#context.counters.error(answer.code);
    }
  }

  chunkEnd(): void {
    this.#chunkMs = 0;
    if (this.#sending && this.#freeCount > 0) this.#refill();
  }

  failed(error: Error): void {
    this.#lost = true;
    this.#context.finish.failed(error);
  }

  /** One request for each free slot, all in one buffer and one write. */
  #refill(): void {
    const block = this.#writer.block(this.#freeCount);
    const nowMs = this.#context.clock.monoMs();
    let at = 0;
    while (this.#freeCount > 0) {
      const slot = this.#freeSlots[--this.#freeCount]!;
      at = this.#writer.put(block, at, slot, nowMs);
      this.#sentAtMs[slot] = nowMs;
    }
    this.#socket?.write(block);
  }
}
