import type { Clock } from '../../kernel/base/clock.js';
import { readAnswer, remarkIn, writeOpaque, type Answer } from './frames.js';
import type { BrokerTarget, Finish, LoadCounters, TopicQueue } from './load.js';
import { joinFrame } from './join-frame.js';
import { LoadSocket, type FrameSink } from './load-socket.js';
import { nextOffsetIn, PullFrame, readRecords, type PullShape, type TakeRecord } from './pull-frames.js';

const SUCCESS = 0;
const PULL_NOT_FOUND = 19;
const PULL_RETRY_IMMEDIATELY = 20;
const PULL_OFFSET_MOVED = 21;

/** What the connections of a pulling load share. */
export interface PullContext {
  readonly shape: PullShape;
  /** Pulls in flight on each connection; never more than one per queue. */
  readonly window: number;
  /** At the end of a queue: pull it no more, begin at offset 0 again, or pull there until something comes. */
  readonly atEnd: 'finish' | 'again' | 'wait';
  readonly clock: Clock;
  readonly counters: LoadCounters;
  readonly finish: Finish;
  /** Messages that the filter passed over or took. */
  scanned: number;
  /** Takes each record instead of counting it, when given; a pull's latency is not recorded then. */
  readonly take: TakeRecord | undefined;
  /** Every queue of a connection was read to its end. */
  laneDone(): void;
}

interface PulledQueue {
  readonly frame: PullFrame;
  offset: number;
  /** Messages read since the queue was begun: a queue that holds none is not begun again. */
  read: number;
  sentAtMs: number;
}

let lanesJoined = 0;

/** One connection that pulls several queues in parallel. */
export class PullLane implements FrameSink {
  readonly #context: PullContext;
  readonly #queues: PulledQueue[];
  /** Queues that wait for their next pull, oldest first; the slot of a request is the queue's index. A ring. */
  readonly #ready: Int32Array;
  #readyFirst = 0;
  #readyCount: number;
  readonly #frameBytesMax: number;
  readonly #answer: Answer = { code: 0, slot: 0, bodyStart: 0 };
  #inFlight = 0;
  #open: number;
  #chunkMs = 0;
  #sending = true;
  #lost = false;
  #socket: LoadSocket | undefined;
  readonly #topics: readonly string[];
  #joined: (code: number) => void = () => undefined;

  /** `offsets`: where to begin in each queue. */
  constructor(context: PullContext, queues: readonly TopicQueue[], offsets: (queue: TopicQueue) => number) {
    this.#context = context;
    this.#topics = queues.map(({ topic }) => topic);
    this.#queues = queues.map((queue) => ({
      frame: new PullFrame(context.shape, queue),
      offset: offsets(queue),
      read: 0,
      sentAtMs: 0,
    }));
    this.#ready = Int32Array.from(queues, (_, index) => index);
    this.#readyCount = queues.length;
    this.#open = queues.length;
    this.#frameBytesMax = Math.max(...this.#queues.map(({ frame }) => frame.bytesMax));
  }

  async connect({ host, port }: BrokerTarget): Promise<void> {
    this.#socket = await LoadSocket.open(host, port, this);
    if (this.#context.shape.joins === true) await this.#join(this.#socket);
  }

  #join(socket: LoadSocket): Promise<void> {
    const frame = joinFrame(this.#context.shape, this.#topics, ++lanesJoined);
    writeOpaque(frame.bytes, 0, frame, this.#queues.length);
    return new Promise((resolve, reject) => {
      this.#joined = (code) =>
        code === SUCCESS ? resolve() : reject(new Error(`the heartbeat was answered with code ${code}`));
      socket.write(frame.bytes);
    });
  }

  get idle(): boolean {
    return this.#inFlight === 0 || this.#lost;
  }

  get done(): boolean {
    return this.#open === 0;
  }

  stopSending(): void {
    this.#sending = false;
  }

  close(): void {
    this.#socket?.close();
  }

  /** Sends the next pull of each queue that waits, as far as the window goes, in one write. */
  fill(): void {
    const count = Math.min(this.#readyCount, this.#context.window - this.#inFlight);
    if (!this.#sending || count <= 0) return;
    const block = Buffer.allocUnsafe(count * this.#frameBytesMax);
    const nowMs = this.#context.clock.monoMs();
    let at = 0;
    for (let index = 0; index < count; index++) {
      const slot = this.#nextReady();
      const queue = this.#queues[slot]!;
      at = queue.frame.write(block, at, queue.offset, slot);
      queue.sentAtMs = nowMs;
    }
    this.#inFlight += count;
    this.#socket?.write(block.subarray(0, at));
  }

  frame(buffer: Buffer, start: number, end: number): void {
    const answer = this.#answer;
    readAnswer(buffer, start, end, answer);
    if (answer.slot === this.#queues.length) return this.#joined(answer.code);
    // A broker tells the members of a group of each other; it counts its own requests from 0.
    if (answer.slot < 0) return;
    const queue = this.#queues[answer.slot];
    if (queue === undefined) throw new Error('answer to a pull never sent');
    this.#inFlight--;
    const { counters, clock, take } = this.#context;
    if (this.#chunkMs === 0) this.#chunkMs = clock.monoMs();
    if (take === undefined) counters.latency.record((this.#chunkMs - queue.sentAtMs) * 1000);
    const wasAt = queue.offset;
    if (answer.code === SUCCESS) this.#take(queue, buffer, start, end);
    else if (answer.code === PULL_RETRY_IMMEDIATELY || answer.code === PULL_OFFSET_MOVED)
      this.#goOn(queue, nextOffsetIn(buffer, start, answer.bodyStart));
    else if (answer.code !== PULL_NOT_FOUND)
      throw new Error(`a pull was answered with code ${answer.code}: ${remarkIn(buffer, start, answer.bodyStart)}`);
    if (queue.offset !== wasAt || this.#context.atEnd === 'wait') this.#putReady(answer.slot);
    else this.#endOf(queue, answer.slot);
  }

  chunkEnd(): void {
    this.#chunkMs = 0;
    this.fill();
  }

  failed(error: Error): void {
    this.#lost = true;
    this.#context.finish.failed(error);
  }

  #take(queue: PulledQueue, buffer: Buffer, start: number, end: number): void {
    const { counters, take } = this.#context;
    const { bodyStart } = this.#answer;
    const count = readRecords(buffer, bodyStart, end, take);
    queue.read += count;
    this.#goOn(queue, nextOffsetIn(buffer, start, bodyStart));
    if (take !== undefined) return;
    counters.messages += count;
    counters.bytes += end - bodyStart;
  }

  #goOn(queue: PulledQueue, offset: number): void {
    this.#context.scanned += Math.max(0, offset - queue.offset);
    queue.offset = offset;
  }

  #nextReady(): number {
    const slot = this.#ready[this.#readyFirst]!;
    this.#readyFirst = this.#readyFirst + 1 === this.#ready.length ? 0 : this.#readyFirst + 1;
    this.#readyCount--;
    return slot;
  }

  #putReady(slot: number): void {
    this.#ready[(this.#readyFirst + this.#readyCount++) % this.#ready.length] = slot;
  }

  #endOf(queue: PulledQueue, slot: number): void {
    if (this.#context.atEnd === 'again' && queue.read > 0) {
      queue.offset = 0;
      queue.read = 0;
      this.#putReady(slot);
    } else if (--this.#open === 0) {
      this.#context.laneDone();
    }
  }
}
