import { messageOf } from '../../kernel/base/errors.js';
import type { Logger } from '../../kernel/base/logger.js';
import { Ledger, type LedgerMemory } from '../../kernel/ring/ledger.js';
import { SlotStatus } from '../../kernel/ring/slots.js';
import { StoreEnd, type StoreEndMemory, type WantedRow } from '../../kernel/ring/store-end.js';
import {
  measure,
  preparedTransactionOffsetAt,
  QUEUE_ID_AT,
  recordBytes,
  TOTAL_SIZE_AT,
  type RecordLayout,
} from '../../protocol/message/record.js';
import { copyBytes, viewOf } from '../../protocol/copy.js';
import { setInt64 } from '../../protocol/int64.js';
import type { Form, Hand, Outgoing, Source } from './source.js';

/** Units of one step: the others on the thread get their turn. */
const STEP_UNITS_MAX = 256;

/** Why a unit was not stored, for the log. */
const statusNames = new Map<number, string>(Object.entries(SlotStatus).map(([name, value]) => [value, name]));

/** Stores records again, straight from the log into the ring, and tells their sources how that ended. */
export class Delivery {
  readonly hands: readonly Hand[];
  readonly #end: StoreEnd<number>;
  readonly #ledger: Ledger;
  readonly #outgoing: Outgoing = {
    topic: '',
    queueId: 0,
    properties: Buffer.alloc(0),
    propertiesStart: 0,
    propertiesEnd: 0,
  };
  #inherited = false;
  #left = 0;
  #blocked = false;
  #failing = false;
  #failures = 0;

  /** A source's tokens are kept under its place among the sources, over restarts. */
  constructor(
    memory: StoreEndMemory,
    ledger: LedgerMemory,
    private readonly sources: readonly Source[],
    private readonly logger: Logger,
  ) {
    this.#end = new StoreEnd(memory);
    this.#ledger = new Ledger(ledger, memory.ring);
    this.hands = sources.map(
      (_, owner): Hand =>
        (token, physicalOffset, size, form) =>
          this.#hand(owner, token, physicalOffset, size, form),
    );
  }

  get inFlight(): number {
    return this.#end.inFlight;
  }

  /** How often something could not be stored. */
  get failures(): number {
    return this.#failures;
  }

  /** This step's units are used up: there is more to do. */
  get isFull(): boolean {
    return this.#left <= 0;
  }

  /** Something could not be handed over because the ring was full or a queue had no row. */
  get isBlocked(): boolean {
    return this.#blocked;
  }

  takeWantedRows(): readonly WantedRow[] {
    return this.#end.takeWantedRows();
  }

  /** Takes in what came back. False while units of an earlier life are on their way: then nothing may be handed over. */
  begin(): boolean {
    this.#left = STEP_UNITS_MAX;
    this.#blocked = false;
    if (!this.#end.isReady) return false;
    if (!this.#inherited) {
      this.#inherited = true;
      this.#ledger.inherit((owner, token, status) => this.#settle(owner, token, status));
    }
    this.#end.table.sync();
    this.#end.collect((sequence, status) => {
      this.#settle(this.#ledger.ownerOf(sequence), this.#ledger.tokenOf(sequence), status);
      this.#ledger.settle(sequence);
    });
    return true;
  }

  publish(): void {
    this.#end.publish();
  }

  #settle(owner: number, token: number, status: SlotStatus): void {
    const source = this.sources[owner];
    if (status === SlotStatus.stored) {
      this.#failing = false;
      return source.delivered(token);
    }
    if (status === SlotStatus.tooLarge) {
      this.#refuse(source, token, undefined, 'it does not fit a segment (mappedFileSizeCommitLog)');
      return;
    }
    if (!this.#failing)
      this.logger.error(
        { status: statusNames.get(status) },
        'delayed messages cannot be stored now: they are delivered when the log takes writes again',
      );
    this.#failing = true;
    this.#failures++;
    source.again(token);
  }

  #hand(owner: number, token: number, physicalOffset: number, size: number, form: Form): boolean {
    if (this.#left <= 0) return false;
    const source = this.sources[owner];
    const record = source.records.read(physicalOffset, size);
    if (record === undefined) return this.#refuse(source, token, physicalOffset, 'it is not in the log any more');
    try {
      const parts = measure(record, 0);
      const problem = form.fill(record, parts, this.#outgoing);
      if (problem !== undefined) return this.#refuse(source, token, physicalOffset, problem);
      return this.#put(owner, token, physicalOffset, record, parts);
    } catch (error) {
      return this.#refuse(source, token, physicalOffset, messageOf(error));
    }
  }

  #put(owner: number, token: number, physicalOffset: number, record: Buffer, parts: RecordLayout): boolean {
    const end = this.#end;
    const { topic, queueId, properties, propertiesStart, propertiesEnd } = this.#outgoing;
    const row = end.row(topic, queueId);
    if (row < 0) return this.#block();
    const { sysFlag, bodyAt, bodyBytes } = parts;
    const propertiesBytes = propertiesEnd - propertiesStart;
    const total = recordBytes(sysFlag, bodyBytes, topic.length, propertiesBytes);
    if (!end.canEverFit(total))
      return this.#refuse(this.sources[owner], token, physicalOffset, 'it does not fit the ring (maxMessageSize)');
    const start = end.reserve(total);
    if (start < 0) return this.#block();
    const { bytes, view } = end;
    const source = viewOf(record);
    copyBytes(source, 0, bodyAt + bodyBytes, view, start);
    view.setInt32(start + TOTAL_SIZE_AT, total);
    view.setInt32(start + QUEUE_ID_AT, queueId);
    setInt64(view, start + preparedTransactionOffsetAt(sysFlag), 0);
    let at = start + bodyAt + bodyBytes;
    bytes[at++] = topic.length;
    for (let i = 0; i < topic.length; i++) bytes[at++] = topic.charCodeAt(i);
    view.setInt16(at, propertiesBytes);
    copyBytes(properties === record ? source : viewOf(properties), propertiesStart, propertiesEnd, view, at + 2);
    end.commit(total, row, 1, this.#ledger.note(owner, token));
    this.#left--;
    return true;
  }

  #block(): boolean {
    this.#blocked = true;
    return false;
  }

  /** It stays in the log, and those behind it go on. */
  #refuse(source: Source, token: number, physicalOffset: number | undefined, problem: string): true {
    this.logger.error({ token, physicalOffset, problem }, 'a delayed message cannot be delivered');
    source.undeliverable(token);
    return true;
  }
}
