import { roomFor, writeFiller } from '../../store/commitlog/filler.js';
import type { Segments } from '../../store/commitlog/segments.js';
import { testRecord, type TestRecord } from './records.js';

export interface Placed {
  readonly physicalOffset: number;
  readonly size: number;
  readonly topic: string;
  readonly queueId: number;
  readonly queueOffset: number;
}

/** Appends records as the writer does, with fillers and queue offsets. */
export class LogBuilder {
  position: number;
  readonly placed: Placed[] = [];
  readonly #next = new Map<string, number>();

  constructor(
    readonly segments: Segments,
    position = 0,
    /** Sees each record before it is written: a write that is cut may be whole. */
    private readonly beforeWrite: (placed: Placed) => void = () => undefined,
  ) {
    this.position = position;
  }

  append(input: Omit<TestRecord, 'physicalOffset' | 'queueOffset'> = {}): Placed {
    const topic = input.topic ?? 'T';
    const queueId = input.queueId ?? 0;
    const key = `${topic}/${queueId}`;
    const queueOffset = this.#next.get(key) ?? 0;
    const { segmentBytes } = this.segments;
    const size = testRecord({ ...input, physicalOffset: 0 }).length;
    const base = this.position - (this.position % segmentBytes);
    if (!roomFor(size, this.position, base, segmentBytes)) {
      this.position = writeFiller(this.segments.ensure(this.position), base, this.position, segmentBytes);
    }
    const record = testRecord({ ...input, queueOffset, physicalOffset: this.position });
    const placed = { physicalOffset: this.position, size: record.length, topic, queueId, queueOffset };
    const file = this.segments.ensure(this.position);
    this.beforeWrite(placed);
    file.write(record, 0, record.length, this.position % segmentBytes);
    this.placed.push(placed);
    this.position += record.length;
    this.#next.set(key, queueOffset + 1);
    return placed;
  }

  setNext(topic: string, queueId: number, queueOffset: number): void {
    this.#next.set(`${topic}/${queueId}`, queueOffset);
  }
}
