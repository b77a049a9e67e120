import { join } from 'node:path';
import { isDelayTopic } from '../../protocol/message/names.js';
import type { QueueFiles } from '../consumequeue/queue-files.js';
import { isBlankUnit, isRecordUnit, UNIT_BYTES, unitPhysicalOffset, unitSize } from '../consumequeue/unit.js';
import type { DispatchFields } from '../dispatch/read-dispatch.js';
import { segmentName } from '../files/paths.js';
import type { AuditedFile } from './file-audit.js';
import type { Findings } from './findings.js';
import type { DamagedRanges } from './log-check.js';
import type { LogLookup } from './log-lookup.js';

/** A start that finds no queue and no checkpoint dispatches the whole log again. */
export const REBUILD =
  'stop the broker, remove the folder consumequeue and the file checkpoint: the next start builds all queues from the log';
/** What a start sees by itself. */
export const REBUILT = 'nothing: the next start builds the queue again from the log (RocketMQ 4.9 does not)';

const CHUNK_UNITS = 256;
/** Queues whose units are kept at hand at a time. */
const CHUNKS_MAX = 8192;
const SCAN_UNITS = 12_800;

/** Records in the log that have no unit where it should be. */
interface Missing {
  readonly first: number;
  last: number;
  readonly physical: number;
  readonly unit: string;
  count: number;
}

class QueueState {
  /** Queue offset after the last unit that was found to be right; -1 before the first. */
  next = -1;
  missing: Missing | undefined;

  constructor(
    readonly topic: string,
    readonly queueId: number,
    /** Queue offsets that the files can hold: from, and behind the last. */
    readonly min: number,
    readonly end: number,
  ) {}
}

export interface QueueCheckOptions {
  readonly queues: QueueFiles;
  readonly findings: Findings;
  readonly lookup: LogLookup;
  readonly damaged: DamagedRanges;
  readonly logMin: number;
  /** Queues with the extension's addresses in place of tags codes may have any. */
  readonly withExtension: boolean;
}

/** How the log ends, known after all of its records were seen. */
export interface QueueEndRules {
  readonly validEnd: number;
  /** False after a crash: units may point behind the log's end, and be missing from `dispatchedFrom` on. */
  readonly normalExit: boolean;
  readonly dispatchedFrom: number;
  readonly placeOf: (physicalOffset: number) => { readonly file: string; readonly position: number };
}

/**
 * Holds the queues against the log: each record of the log, in its order, must have its unit; what lies between two units that were
 * found so is looked at by itself. So the log is read once, and nothing is kept but two numbers for each queue.
 */
export class QueueCheck {
  units = 0;
  recordsWithoutQueue = 0;
  readonly #options: QueueCheckOptions;
  readonly #states = new Map<string, Map<number, QueueState>>();
  /** Records that the next start dispatches, and the first of them. */
  #waiting = 0;
  #waitingFrom = Number.POSITIVE_INFINITY;
  #queuesBehindEnd = 0;
  readonly #chunks = new Map<QueueState, { from: number; readonly units: Buffer }>();

  constructor(options: QueueCheckOptions) {
    this.#options = options;
  }

  /** A queue that has files; `row` is not empty. */
  add(topic: string, queueId: number, row: readonly AuditedFile[]): void {
    const { fileBytes } = this.#options.queues;
    const end = row[row.length - 1]!.base + fileBytes;
    const state = new QueueState(topic, queueId, Math.ceil(row[0]!.base / UNIT_BYTES), Math.floor(end / UNIT_BYTES));
    const queues = this.#states.get(topic) ?? new Map<number, QueueState>();
    this.#states.set(topic, queues.set(queueId, state));
  }

  /** A record of the log that has a place in a queue. */
  record(fields: DispatchFields): void {
    const state = this.#states.get(fields.topic)?.get(fields.queueId);
    if (state === undefined) {
      this.recordsWithoutQueue += 1;
      return;
    }
    const offset = fields.queueOffset;
    const chunk = this.#chunkWith(state, offset);
    const at = chunk === undefined ? 0 : (offset - chunk.from) * UNIT_BYTES;
    const units = chunk?.units;
    if (units === undefined || !isRecordUnit(units, at) || unitPhysicalOffset(units, at) !== fields.physicalOffset) {
      miss(state, fields, units === undefined ? 'there is no file for it' : this.#unitText(units, at));
      return;
    }
    this.#found(state, fields, units, at);
  }

  /** After the last record. */
  finish(rules: QueueEndRules): void {
    for (const queues of this.#states.values())
      for (const state of queues.values()) {
        this.#reportMissing(state, rules);
        this.#checkRest(state, rules);
      }
    this.#noteUnfinished(rules);
  }

  /** What a crash leaves in all queues that were in use. */
  #noteUnfinished({ validEnd, placeOf }: QueueEndRules): void {
    const { findings, queues } = this.#options;
    if (this.#waiting > 0) {
      const { file, position } = placeOf(this.#waitingFrom);
      const what = `${this.#waiting} records have no unit yet, from this one on`;
      findings.note(file, position, what, 'nothing: the next start dispatches them again');
    }
    if (this.#queuesBehindEnd > 0) {
      const what = `${this.#queuesBehindEnd} queues have units behind the log's end ${validEnd}`;
      findings.note(queues.dir, undefined, what, 'nothing: the next start removes them');
    }
  }

  #found(state: QueueState, fields: DispatchFields, units: Buffer, at: number): void {
    const offset = fields.queueOffset;
    // Its topic was deleted and made anew: what came before belongs to nobody.
    if (state.missing !== undefined && offset <= state.missing.last) state.missing = undefined;
    if (offset < state.next) {
      this.#damage(state, offset, `it stands before the unit of offset ${state.next - 1}, whose record is older`);
    } else {
      this.#checkBetween(state, state.next < 0 ? state.min : state.next, offset);
      state.next = offset + 1;
    }
    const size = unitSize(units, at);
    if (size !== fields.size) this.#damage(state, offset, `it says ${size} bytes, its record has ${fields.size}`);
    else if (!this.#tagsFit(fields, units.readInt32BE(at + 12), units.readInt32BE(at + 16)))
      this.#damage(state, offset, `its tags code is not that of its record at ${fields.physicalOffset}`);
    else this.units += 1;
  }

  /** Delayed messages have their due time there, which depends on settings of that day, and on who dispatched them. */
  #tagsFit(fields: DispatchFields, high: number, low: number): boolean {
    if (high === fields.tagsHigh && low === fields.tagsLow) return true;
    return isDelayTopic(fields.topic) || (this.#options.withExtension && high !== low >> 31);
  }

  /** Units that no record of the log has claimed, between such that one has. */
  #checkBetween(state: QueueState, from: number, to: number): void {
    for (let offset = from; offset < to;) {
      const units = this.#read(state, offset, Math.min(SCAN_UNITS, to - offset));
      if (units.length === 0) return this.#hole(state, offset, to);
      for (let at = 0; at < units.length; at += UNIT_BYTES, offset += 1) {
        if (isBlankUnit(units, at)) continue;
        if (!isRecordUnit(units, at)) {
          this.#hole(state, offset, to);
          return;
        }
        this.#checkUnclaimed(state, offset, unitPhysicalOffset(units, at));
      }
    }
  }

  #hole(state: QueueState, offset: number, to: number): void {
    this.#damage(state, offset, `a hole: unwritten, though units follow from offset ${to} on`, REBUILT);
  }

  /** A unit whose record is not in the log: it is gone with old files, or the unit is wrong. */
  #checkUnclaimed(state: QueueState, offset: number, physical: number): void {
    const { logMin, damaged, lookup } = this.#options;
    if (physical < logMin || damaged.has(physical)) return;
    this.#damage(state, offset, `it points to ${physical}, where ${lookup.describe(physical)} lies`);
  }

  /** What stands behind the last unit whose record the log has. */
  #checkRest(state: QueueState, { validEnd, normalExit }: QueueEndRules): void {
    let hole = -1;
    for (let offset = Math.max(state.min, state.next); offset < state.end;) {
      const units = this.#read(state, offset, Math.min(SCAN_UNITS, state.end - offset));
      if (units.length === 0) return;
      const isEmpty = units.compare(ZEROS, 0, units.length) === 0;
      if (isEmpty && hole < 0) hole = offset;
      for (let at = 0; !isEmpty && at < units.length; at += UNIT_BYTES) {
        const here = offset + at / UNIT_BYTES;
        if (isBlankUnit(units, at)) continue;
        const isRecord = isRecordUnit(units, at);
        const physical = isRecord ? unitPhysicalOffset(units, at) : -1;
        if (isRecord && physical >= validEnd) return this.#behindEnd(state, here, physical, validEnd, normalExit);
        if (!isRecord && hole < 0) hole = here;
        if (isRecord && hole >= 0) return this.#hole(state, hole, here);
        if (isRecord) this.#checkUnclaimed(state, here, physical);
      }
      offset += units.length / UNIT_BYTES;
    }
  }

  #behindEnd(state: QueueState, offset: number, physical: number, validEnd: number, normalExit: boolean): void {
    if (this.#options.damaged.has(physical)) return;
    if (normalExit) this.#damage(state, offset, `it points to ${physical}, behind the log's end ${validEnd}`);
    else this.#queuesBehindEnd += 1;
  }

  #reportMissing(state: QueueState, rules: QueueEndRules): void {
    const { missing } = state;
    if (missing === undefined) return;
    if (!rules.normalExit && missing.physical >= rules.dispatchedFrom) {
      this.#waiting += missing.count;
      this.#waitingFrom = Math.min(this.#waitingFrom, missing.physical);
      return;
    }
    const { file, position } = this.#placeOf(state, missing.first);
    const more = missing.count > 1 ? `, and so on for ${missing.count - 1} more records` : '';
    const what = `the record at ${missing.physical} has no unit: ${missing.unit}${more}`;
    this.#options.findings.damage(file, position, what, REBUILD);
  }

  #damage(state: QueueState, offset: number, what: string, todo = REBUILD): void {
    const { missing, topic, queueId } = state;
    // The same seen from the other side.
    if (missing !== undefined && offset >= missing.first && offset <= missing.last) state.missing = undefined;
    const { file, position } = this.#placeOf(state, offset);
    this.#options.findings.damage(file, position, `unit ${offset} of ${topic}/${queueId}: ${what}`, todo);
  }

  #placeOf({ topic, queueId }: QueueState, offset: number): { file: string; position: number } {
    const { queues } = this.#options;
    const position = (offset * UNIT_BYTES) % queues.fileBytes;
    return { file: join(queues.dir, topic, String(queueId), segmentName(offset * UNIT_BYTES - position)), position };
  }

  #unitText(units: Buffer, at: number): string {
    if (!isRecordUnit(units, at)) return isBlankUnit(units, at) ? 'it is marked blank' : 'it was never written';
    return `it points to ${unitPhysicalOffset(units, at)}`;
  }

  #read({ topic, queueId }: QueueState, offset: number, count: number): Buffer {
    return this.#options.queues.read(topic, queueId, offset, count);
  }

  /** Units read ahead, since the records of a queue come in its order. */
  #chunkWith(state: QueueState, offset: number): { from: number; readonly units: Buffer } | undefined {
    const held = this.#chunks.get(state);
    if (held !== undefined && offset >= held.from && (offset - held.from + 1) * UNIT_BYTES <= held.units.length)
      return held;
    const units = this.#read(state, offset, CHUNK_UNITS);
    if (units.length === 0) return undefined;
    const chunk = { from: offset, units };
    this.#chunks.delete(state);
    this.#chunks.set(state, chunk);
    if (this.#chunks.size > CHUNKS_MAX) for (const oldest of this.#chunks.keys()) return this.#drop(oldest, chunk);
    return chunk;
  }

  #drop<T>(oldest: QueueState, chunk: T): T {
    this.#chunks.delete(oldest);
    return chunk;
  }
}

const ZEROS = Buffer.alloc(SCAN_UNITS * UNIT_BYTES);

function miss(state: QueueState, fields: DispatchFields, unit: string): void {
  const { queueOffset, physicalOffset } = fields;
  if (state.missing === undefined || queueOffset < state.missing.first) {
    const count = (state.missing?.count ?? 0) + 1;
    state.missing = { first: queueOffset, last: queueOffset, physical: physicalOffset, unit, count };
    return;
  }
  state.missing.last = Math.max(state.missing.last, queueOffset);
  state.missing.count += 1;
}
