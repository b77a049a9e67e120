import { readAnswer, type Answer } from './frames.js';
import type { FrameWriter, SendContext } from './frame-writer.js';
import type { BrokerTarget } from './load.js';
import { LoadSocket, type FrameSink } from './load-socket.js';
import { Naps, Pace } from './pace.js';
import { connectLanes, opened } from './opened.js';
import type { SendCounts, SendSettings } from './send-load.js';
import { settled } from './settled.js';

/** Sends without an answer yet; beyond it sends wait, and their wait counts. */
const IN_FLIGHT_MAX = 65_536;
const IN_FLIGHT_MIN = 1024;
/** Later than this is the generator's fault and is reported. */
const LATE_MS = 1;
const DRAIN_MS = 5000;

/** Sends at a fixed rate whatever the answers do; latencies count from the time at which a message was meant to leave. */
export class PacedSender {
  readonly #context: SendContext;
  readonly #lanes: PacedLane[] = [];
  readonly #perSecond: number;
  #pace: Pace | undefined;
  #naps: Naps | undefined;
  #turn = 0;
  #sent = 0;
  #late = 0;
  #unanswered = 0;

  private constructor(context: SendContext, perSecond: number) {
    this.#context = context;
    this.#perSecond = perSecond;
  }

  static open(
    settings: SendSettings,
    context: SendContext,
    counts: SendCounts,
    perSecond: number,
  ): Promise<PacedSender> {
    const sender = new PacedSender(context, perSecond);
    const inFlightMax = Math.max(IN_FLIGHT_MIN, Math.floor(IN_FLIGHT_MAX / settings.connections));
    const make = (writer: FrameWriter): PacedLane => new PacedLane(context, counts, inFlightMax, writer);
    return opened(sender, () => connectLanes(settings, context, sender.#lanes, make));
  }

  start(): void {
    const pace = new Pace(this.#perSecond, this.#context.clock);
    this.#pace = pace;
    this.#naps = new Naps(
      () => this.#sendDue(pace),
      () => pace.nextMs,
      this.#context.clock,
    );
    this.#naps.start();
  }

  begin(): void {
    this.#sent = 0;
    this.#late = 0;
    for (const lane of this.#lanes) lane.begin();
  }

  get unanswered(): number {
    return this.#unanswered;
  }

  /** Share of the sends since `begin` that left too late. */
  get lateShare(): number {
    return this.#sent === 0 ? 0 : this.#late / this.#sent;
  }

  /** Sends no more, waits for the answers in flight, and counts those that do not come. */
  async end(): Promise<void> {
    this.#naps?.stop();
    this.#countOverdue();
    await settled(() => this.#lanes.every((lane) => lane.idle), DRAIN_MS);
    this.#unanswered = this.#lanes.reduce((sum, lane) => sum + lane.countUnanswered(), 0);
  }

  stop(): void {
    this.#naps?.stop();
    for (const lane of this.#lanes) lane.close();
  }

  /** All that is due, in one write for each connection; connections take it in turn. False when it has to wait for answers. */
  #sendDue(pace: Pace): boolean {
    let due = pace.due();
    while (due > 0) {
      const lane = this.#nextLane();
      if (lane === undefined) return false;
      const count = Math.min(lane.free, Math.ceil(due / this.#lanes.length));
      this.#late += lane.send(count, pace, LATE_MS);
      this.#sent += count;
      due -= count;
    }
    return true;
  }

  #nextLane(): PacedLane | undefined {
    for (let tried = 0; tried < this.#lanes.length; tried++) {
      const lane = this.#lanes[this.#turn]!;
      this.#turn = this.#turn + 1 === this.#lanes.length ? 0 : this.#turn + 1;
      if (lane.free > 0) return lane;
    }
    return undefined;
  }

  /** What was meant to leave and never did is late, too. */
  #countOverdue(): void {
    const overdue = this.#pace?.due() ?? 0;
    this.#pace = undefined;
    if (overdue / this.#perSecond < LATE_MS / 1000) return;
    this.#sent += overdue;
    this.#late += overdue;
  }
}

class PacedLane implements FrameSink {
  readonly #context: SendContext;
  readonly #counts: SendCounts;
  readonly #writer: FrameWriter;
  readonly #answer: Answer = { code: 0, slot: 0, bodyStart: 0 };
  /** By slot; 0 when the slot is free. */
  readonly #intendedMs: Float64Array;
  readonly #freeSlots: Int32Array;
  #freeCount: number;
  #sinceMs = 0;
  #lost = false;
  #socket: LoadSocket | undefined;

  constructor(context: SendContext, counts: SendCounts, inFlightMax: number, writer: FrameWriter) {
    this.#context = context;
    this.#counts = counts;
    this.#writer = writer;
    this.#intendedMs = new Float64Array(inFlightMax);
    this.#freeSlots = Int32Array.from({ length: inFlightMax }, (_, slot) => slot);
    this.#freeCount = inFlightMax;
  }

  async connect({ host, port }: BrokerTarget): Promise<void> {
    this.#socket = await LoadSocket.open(host, port, this);
  }

  get free(): number {
    return this.#freeCount;
  }

  get idle(): boolean {
    return this.#freeCount === this.#freeSlots.length || this.#lost;
  }

  /** Latencies of messages that were meant to leave before now do not count. */
  begin(): void {
    this.#sinceMs = this.#context.clock.monoMs();
  }

  /** Counts what was never answered with the time that it waited so far; returns how many these are. */
  countUnanswered(): number {
    const nowMs = this.#context.clock.monoMs();
    for (const intendedMs of this.#intendedMs)
      if (intendedMs > 0) this.#counts.latency.record((nowMs - intendedMs) * 1000);
    return this.#freeSlots.length - this.#freeCount;
  }

  /** Sends the next so many; returns how many of them are later than `lateMs`. */
  send(count: number, pace: Pace, lateMs: number): number {
    const block = this.#writer.block(count);
    const nowMs = this.#context.clock.monoMs();
    let late = 0;
    let at = 0;
    for (let index = 0; index < count; index++) {
      const intendedMs = pace.take();
      if (nowMs - intendedMs > lateMs) late++;
      const slot = this.#freeSlots[--this.#freeCount]!;
      this.#intendedMs[slot] = intendedMs;
      at = this.#writer.put(block, at, slot, intendedMs);
    }
    this.#socket?.write(block);
    return late;
  }

  close(): void {
    this.#socket?.close();
  }

  frame(buffer: Buffer, start: number, end: number): void {
    const answer = this.#answer;
    readAnswer(buffer, start, end, answer);
    if (answer.slot < 0 || answer.slot >= this.#freeSlots.length) throw new Error('answer to a request never sent');
    const counts = this.#counts;
    const intendedMs = this.#intendedMs[answer.slot]!;
    if (intendedMs >= this.#sinceMs) counts.latency.record((this.#context.clock.monoMs() - intendedMs) * 1000);
    this.#intendedMs[answer.slot] = 0;
    this.#freeSlots[this.#freeCount++] = answer.slot;
    if (answer.code !== 0) return this.#context.counters.error(answer.code);
    counts.messages++;
    counts.bytes += this.#context.shape.bodyBytes;
  }

  chunkEnd(): void {
    // The next sends leave when they are due.
  }

  failed(error: Error): void {
    this.#lost = true;
    this.#context.finish.failed(error);
  }
}
