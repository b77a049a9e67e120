import type { Clock } from '../../kernel/base/clock.js';
import { EndFrame, type HalfPlace } from './end-frame.js';
import { numberField, positionInAnswer, readAnswer, type Answer } from './frames.js';
import type { FrameWriter, SendContext } from './frame-writer.js';
import { Finish, LoadCounters, type BrokerTarget, type Load } from './load.js';
import { LoadSocket, type FrameSink } from './load-socket.js';
import { connectLanes, opened } from './opened.js';
import type { SendSettings } from './send-load.js';
import { settled } from './settled.js';

const DRAIN_MS = 1000;

/**
 * Keeps `window` transactions open on each connection: a half message, and its commit when the half is answered. A transaction counts
 * when its commit is answered; its latency runs from the half to that.
 */
export class TransactionLoad implements Load {
  readonly counters = new LoadCounters();
  readonly #finish = new Finish();
  readonly #lanes: TransactionLane[] = [];

  private constructor() {}

  static open(settings: SendSettings, clock: Clock): Promise<TransactionLoad> {
    const load = new TransactionLoad();
    const shape = { ...settings.shape, half: true };
    const context: SendContext = { shape, clock, counters: load.counters, finish: load.#finish };
    const make = (writer: FrameWriter): TransactionLane => new TransactionLane(context, settings.window, writer);
    return opened(load, () => connectLanes(settings, context, load.#lanes, make));
  }

  get finished(): Promise<void> {
    return this.#finish.promise;
  }

  start(): void {
    for (const lane of this.#lanes) lane.begin();
  }

  begin(): void {
    this.counters.reset();
  }

  /** Begins no more; those under way are committed, so that the broker has nothing to ask for afterwards. */
  async stop(): Promise<void> {
    for (const lane of this.#lanes) lane.stopSending();
    await settled(() => this.#lanes.every((lane) => lane.idle), DRAIN_MS);
    for (const lane of this.#lanes) lane.close();
  }
}

const HALF = 1;
const END = 2;
const QUEUE_OFFSET = Buffer.from('queueOffset');

class TransactionLane implements FrameSink {
  readonly #context: SendContext;
  readonly #window: number;
  readonly #writer: FrameWriter;
  readonly #end: EndFrame;
  readonly #answer: Answer = { code: 0, slot: 0, bodyStart: 0 };
  /** By slot, which is the opaque of both requests of a transaction. */
  readonly #beganMs: Float64Array;
  readonly #waitsFor: Uint8Array;
  readonly #keys: Uint32Array;
  readonly #places: readonly HalfPlace[];
  readonly #freeSlots: Int32Array;
  #freeCount: number;
  /** Slots whose half was answered in this chunk. */
  readonly #toEnd: Int32Array;
  #toEndCount = 0;
  #chunkMs = 0;
  #sending = true;
  #lost = false;
  #socket: LoadSocket | undefined;

  constructor(context: SendContext, window: number, writer: FrameWriter) {
    this.#context = context;
    this.#window = window;
    this.#writer = writer;
    this.#end = new EndFrame(context.shape.form);
    this.#beganMs = new Float64Array(window);
    this.#waitsFor = new Uint8Array(window);
    this.#keys = new Uint32Array(window);
    this.#places = Array.from({ length: window }, () => ({ queueOffset: 0, position: 0 }));
    this.#freeSlots = Int32Array.from({ length: window }, (_, slot) => slot);
    this.#freeCount = window;
    this.#toEnd = new Int32Array(window);
  }

  async connect({ host, port }: BrokerTarget): Promise<void> {
    this.#socket = await LoadSocket.open(host, port, this);
  }

  get idle(): boolean {
    return this.#freeCount === this.#window || this.#lost;
  }

  begin(): void {
    this.#fill();
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
    const { slot, code, bodyStart } = answer;
    const waited = slot >= 0 && slot < this.#window ? this.#waitsFor[slot]! : 0;
    if (waited === 0) throw new Error('answer to a request never sent');
    if (this.#chunkMs === 0) this.#chunkMs = this.#context.clock.monoMs();
    if (code === 0 && waited === HALF) {
      const place = this.#places[slot]!;
      place.queueOffset = numberField(buffer, QUEUE_OFFSET, start, bodyStart);
      place.position = positionInAnswer(buffer, start, bodyStart);
      this.#toEnd[this.#toEndCount++] = slot;
      return;
    }
    this.#waitsFor[slot] = 0;
    this.#freeSlots[this.#freeCount++] = slot;
    this.#count(slot, code);
  }

  chunkEnd(): void {
    this.#chunkMs = 0;
    this.#fill();
  }

  failed(error: Error): void {
    this.#lost = true;
    this.#context.finish.failed(error);
  }

  #count(slot: number, code: number): void {
    const { counters, shape } = this.#context;
    if (code !== 0) return counters.error(code);
    counters.latency.record((this.#chunkMs - this.#beganMs[slot]!) * 1000);
    counters.messages++;
    counters.bytes += shape.bodyBytes;
  }

  /** Commits what was answered and begins as many as there is room for, in one write. */
  #fill(): void {
    const begun = this.#sending ? this.#freeCount : 0;
    if (begun + this.#toEndCount === 0) return;
    const block = this.#writer.block(begun, this.#toEndCount * this.#end.bytesMax);
    const nowMs = this.#context.clock.monoMs();
    let at = 0;
    for (let index = 0; index < this.#toEndCount; index++) {
      const slot = this.#toEnd[index]!;
      this.#waitsFor[slot] = END;
      at = this.#end.write(block, at, this.#places[slot]!, this.#keys[slot]!, slot);
    }
    this.#toEndCount = 0;
    for (let index = 0; index < begun; index++) {
      const slot = this.#freeSlots[--this.#freeCount]!;
      this.#waitsFor[slot] = HALF;
      this.#beganMs[slot] = nowMs;
      this.#keys[slot] = this.#writer.nextKey;
      at = this.#writer.put(block, at, slot, nowMs);
    }
    this.#socket!.write(block.subarray(0, at));
  }
}
