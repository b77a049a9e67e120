import type { Clock } from '../../kernel/base/clock.js';
import { readAnswer, type Answer } from './frames.js';
import type { FrameWriter, SendContext } from './frame-writer.js';
import { Finish, LoadCounters, type BrokerTarget, type Load, type LoadDetail } from './load.js';
import { LoadSocket, type FrameSink } from './load-socket.js';
import { connectLanes, opened } from './opened.js';
import type { SendSettings } from './send-load.js';
import { settled } from './settled.js';

const DRAIN_MS = 5000;

/**
 * Sends without answers, as fast as the sockets take it. What counts is what the broker stored, as it says itself before and after:
 * it may drop what it has no room for.
 */
export class OneWayLoad implements Load {
  readonly counters = new LoadCounters();
  readonly #settings: SendSettings;
  readonly #clock: Clock;
  /** How many messages the brokers have stored so far. */
  readonly #storedNow: () => Promise<number>;
  readonly #finish = new Finish();
  readonly #lanes: OneWayLane[] = [];
  #storedAtStart = 0;
  #storedAtBegin = 0;
  #storedAtEnd = 0;
  #beganMs = 0;
  #stopping: Promise<void> | undefined;

  private constructor(settings: SendSettings, clock: Clock, storedNow: () => Promise<number>) {
    this.#settings = settings;
    this.#clock = clock;
    this.#storedNow = storedNow;
  }

  static async open(settings: SendSettings, clock: Clock, storedNow: () => Promise<number>): Promise<OneWayLoad> {
    const load = new OneWayLoad(settings, clock, storedNow);
    const { shape, window } = settings;
    const context: SendContext = { shape, clock, counters: load.counters, finish: load.#finish };
    return opened(load, async () => {
      load.#storedAtStart = await storedNow();
      await connectLanes(settings, context, load.#lanes, (writer) => new OneWayLane(context, window, writer));
    });
  }

  get finished(): Promise<void> {
    return this.#finish.promise;
  }

  start(): void {
    for (const lane of this.#lanes) lane.send();
  }

  async begin(): Promise<void> {
    const [stored, atMs] = await this.#look();
    this.#storedAtBegin = stored;
    this.#beganMs = atMs;
    this.counters.reset();
  }

  async end(): Promise<void> {
    const [stored, atMs] = await this.#look();
    const { counters } = this;
    counters.seconds = (atMs - this.#beganMs) / 1000;
    counters.messages = stored - this.#storedAtBegin;
    counters.bytes = counters.messages * this.#settings.shape.bodyBytes;
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  detail(): LoadDetail {
    return { oneWay: { written: this.#written, stored: this.#storedAtEnd - this.#storedAtStart } };
  }

  get #written(): number {
    return this.#lanes.reduce((sum, { written }) => sum + written, 0);
  }

  /** The count, and the middle of the time that it took to ask. */
  async #look(): Promise<[number, number]> {
    const askedMs = this.#clock.monoMs();
    const stored = await this.#storedNow();
    return [stored, (askedMs + this.#clock.monoMs()) / 2];
  }

  /** A closed connection loses what the broker has not read: it stays open until everything arrived, or nothing comes any more. */
  async #stop(): Promise<void> {
    for (const lane of this.#lanes) lane.stopSending();
    await settled(() => this.#lanes.every((lane) => lane.idle), DRAIN_MS);
    if (this.#written > 0) await this.#arrived();
    for (const lane of this.#lanes) lane.close();
  }

  async #arrived(): Promise<void> {
    const endMs = this.#clock.monoMs() + DRAIN_MS;
    let before = -1;
    while (this.#storedAtEnd - this.#storedAtStart < this.#written && this.#clock.monoMs() < endMs) {
      before = this.#storedAtEnd;
      this.#storedAtEnd = await this.#storedNow().catch(() => before);
      // Dropped messages never come: two equal looks are the end.
      if (this.#storedAtEnd === before) return;
      await settled(() => false, 100);
    }
  }
}

/** Writes until the socket takes no more, a block at a time, so that the event loop turns in between. */
class OneWayLane implements FrameSink {
  readonly #context: SendContext;
  readonly #perWrite: number;
  readonly #writer: FrameWriter;
  readonly #answer: Answer = { code: 0, slot: 0, bodyStart: 0 };
  #sending = true;
  #lost = false;
  #socket: LoadSocket | undefined;
  written = 0;

  constructor(context: SendContext, perWrite: number, writer: FrameWriter) {
    this.#context = context;
    this.#perWrite = perWrite;
    this.#writer = writer;
  }

  async connect({ host, port }: BrokerTarget): Promise<void> {
    this.#socket = await LoadSocket.open(host, port, this);
    this.#socket.onDrained(this.send);
  }

  get idle(): boolean {
    return this.#lost || this.#socket === undefined || this.#socket.waitingBytes === 0;
  }

  readonly send = (): void => {
    if (!this.#sending || this.#lost) return;
    const block = this.#writer.block(this.#perWrite);
    const nowMs = this.#context.clock.monoMs();
    let at = 0;
    for (let index = 0; index < this.#perWrite; index++) at = this.#writer.put(block, at, index, nowMs);
    this.written += this.#perWrite;
    this.#context.counters.messages += this.#perWrite;
    if (this.#socket!.write(block)) setImmediate(this.send);
  };

  stopSending(): void {
    this.#sending = false;
  }

  close(): void {
    this.#socket?.close();
  }

  /** 4.9 answers a message that it refuses for want of room, one-way or not. */
  frame(buffer: Buffer, start: number, end: number): void {
    readAnswer(buffer, start, end, this.#answer);
    this.#context.counters.error(this.#answer.code);
  }

  chunkEnd(): void {
    // Nothing comes.
  }

  failed(error: Error): void {
    this.#lost = true;
    this.#context.finish.failed(error);
  }
}
