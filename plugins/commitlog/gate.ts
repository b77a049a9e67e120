import { inject, injectable } from '../../kernel/container.js';
import { KernelError } from '../../kernel/base/errors.js';
import { allocateRing, SlotStatus, type RingMemory } from '../../kernel/ring/slots.js';
import { Fault } from '../../kernel/ring/watermarks.js';
import { RingWriter } from '../../kernel/ring/writer.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { Clock, Options } from '../../kernel/tokens.js';
import { physicalOffsetAt } from '../../protocol/message/stamped.js';
import { StoreDisks, StoreState, type AppendGate, type AppendStatus, type PendingAppend } from './contract.js';
import { Fifo } from '../../kernel/base/fifo.js';
import { Settlement } from './settlement.js';

/** The network thread's producer of the ring, and where its units wait until they are settled. */
@injectable()
export class Gate implements AppendGate {
  readonly memory: RingMemory;
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly #writer: RingWriter;
  readonly #inFlight = new Fifo<PendingAppend>();
  readonly #room: (() => void)[] = [];
  /** Who waits until so many units, counted from the start, have left the ring. */
  readonly #drains: { readonly target: number; readonly resolve: () => void }[] = [];
  #committedUnits = 0;
  #settlement: Settlement | undefined;
  #service: RunningService | undefined;
  #heldBack: string | undefined;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(StoreDisks) private readonly disks: StoreDisks,
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.memory = allocateRing(options.ringBytes, options.ringSlots);
    this.#writer = new RingWriter(this.memory);
    this.bytes = this.#writer.bytes;
    this.view = this.#writer.view;
  }

  get waiting(): number {
    return this.#inFlight.size + (this.#settlement?.waiting ?? 0);
  }

  get ringUnits(): number {
    return this.#writer.inFlight;
  }

  get ringBytes(): number {
    return this.#writer.bytesInFlight;
  }

  get readOnlyReason(): string | undefined {
    const { watermarks, paths } = this.state;
    if (watermarks.raised(Fault.flush))
      return `a sync of ${paths.commitLog} failed; restart the broker when the disk is well`;
    if (watermarks.raised(Fault.append))
      return `a write to ${paths.commitLog} failed; restart the broker when the disk is well`;
    return this.#heldBack;
  }

  holdBack(reason: string | undefined): void {
    this.#heldBack = reason;
    this.state.watermarks.holdBack(reason !== undefined);
  }

  /** After recovery, with the writer running. */
  attach(service: RunningService): void {
    this.#service = service;
    this.#settlement = new Settlement(
      {
        untilFlushed: this.options.flushDiskType === 'SYNC_FLUSH',
        flushTimeoutMs: this.options.syncFlushTimeout,
      },
      this.state.watermarks,
      this.clock,
    );
    this.state.wake.add(
      () => this.collect(),
      () => this.#writer.completed() > 0 || this.#settlement!.ready(),
    );
  }

  reserve(size: number): number {
    return this.#writer.reserve(size);
  }

  commit(size: number, topic: string, queueId: number, records: number, pending: PendingAppend): void {
    this.#writer.commit(size, this.state.queueTable.register(topic, queueId), records);
    this.#inFlight.push(pending);
    this.#committedUnits++;
  }

  publish(): void {
    if (!this.#writer.publish()) return;
    this.#service!.kick();
    // With the writer on this thread the units are completed now; with a thread of its own those of earlier chunks may be.
    this.collect();
  }

  drained(): Promise<void> {
    if (this.#inFlight.size === 0) return Promise.resolve();
    const target = this.#committedUnits;
    return new Promise((resolve) => this.#drains.push({ target, resolve }));
  }

  onRoom(listener: () => void): void {
    this.#room.push(listener);
  }

  /** Takes over what the writer completed, frees the ring, settles what can be. */
  collect(): void {
    const completed = this.#writer.completed();
    for (let i = 0; i < completed; i++) this.#complete(this.#inFlight.shift());
    this.#settlement!.walk();
    if (completed === 0) return;
    while (this.#drains.length > 0 && this.#drains[0].target <= this.#committedUnits - this.#inFlight.size)
      this.#drains.shift()!.resolve();
    for (const listener of this.#room) listener();
  }

  #complete(pending: PendingAppend): void {
    const status = this.#writer.statusOfOldest();
    if (status === SlotStatus.stored) {
      const start = this.#writer.startOfOldest();
      pending.appended(this.view, start);
      const end = physicalOffsetAt(this.view, start) + this.#writer.bytesOfOldest();
      this.#writer.release();
      this.#settlement!.appended(pending, end);
      return;
    }
    this.#writer.release();
    pending.settle(...this.#refusal(status));
  }

  #refusal(status: SlotStatus): [AppendStatus, string] {
    const dir = this.state.paths.commitLog;
    switch (status) {
      case SlotStatus.tooLarge:
        return [
          'tooLarge',
          `the record does not fit a segment of ${this.options.mappedFileSizeCommitLog} bytes (mappedFileSizeCommitLog)`,
        ];
      case SlotStatus.noSpace:
        return ['noSpace', this.#noSpace()];
      case SlotStatus.writeFailed:
        return ['writeFailed', `a write to ${dir} failed; the log tells why`];
      case SlotStatus.readOnly:
        return ['readOnly', this.readOnlyReason ?? `${dir} takes no writes`];
      case SlotStatus.stored:
        throw new KernelError('GATE', 'a stored unit is no refusal');
    }
  }

  /** The ratios are those of the last look; whoever comes next sees those of now. */
  #noSpace(): string {
    const { inMemory, paths } = this.state;
    if (inMemory) return `the memory store is full (memoryStoreBytesMax ${this.options.memoryStoreBytesMax})`;
    void this.disks.measure();
    return `the broker's disk is full [${this.disks.text()}]: no space for ${paths.commitLog}`;
  }
}
