import { inject, injectable } from '../../kernel/container.js';
import {
  PROPERTIES_BYTES_MAX,
  recordBytes,
  TOPIC_BYTES_MAX,
  withHostFlags,
  writeRecord,
} from '../../protocol/message/record.js';
import {
  AppendGate,
  StoreHost,
  type AppendResult,
  type AppendStatus,
  type MessageWriter,
  type NewMessage,
  type PendingAppend,
} from './contract.js';
import { Fifo } from '../../kernel/base/fifo.js';
import { physicalOffsetAt, queueOffsetAt, storeTimeAt } from '../../protocol/message/stamped.js';

/** One message that somebody awaits. */
class AwaitedAppend implements PendingAppend {
  #queueOffset = -1;
  #physicalOffset = -1;
  #storeTimestamp = -1;
  readonly topic: Buffer;
  readonly properties: Buffer;

  constructor(
    readonly message: NewMessage,
    private readonly resolve: (result: AppendResult) => void,
  ) {
    this.topic = Buffer.from(message.topic);
    this.properties = Buffer.from(message.properties);
  }

  get waitStore(): boolean {
    return this.message.waitStore;
  }

  appended(ring: DataView, start: number): void {
    this.#queueOffset = queueOffsetAt(ring, start);
    this.#physicalOffset = physicalOffsetAt(ring, start);
    this.#storeTimestamp = storeTimeAt(ring, start);
  }

  settle(status: AppendStatus, reason: string): void {
    this.resolve({
      status,
      reason,
      queueOffset: this.#queueOffset,
      physicalOffset: this.#physicalOffset,
      storeTimestamp: this.#storeTimestamp,
    });
  }
}

/** Stores single messages of other plugins; those that find the ring full wait, in order. */
@injectable()
export class GateWriter implements MessageWriter {
  readonly #waiting = new Fifo<AwaitedAppend>(16);

  constructor(
    @inject(AppendGate) private readonly gate: AppendGate,
    @inject(StoreHost) private readonly host: StoreHost,
  ) {
    gate.onRoom(() => this.#retry());
  }

  append(message: NewMessage): Promise<AppendResult> {
    return new Promise((resolve) => {
      const pending = new AwaitedAppend(message, resolve);
      const refusal = this.gate.readOnlyReason;
      const tooLarge = this.#tooLarge(pending);
      if (refusal !== undefined) pending.settle('readOnly', refusal);
      else if (tooLarge !== undefined) pending.settle('tooLarge', tooLarge);
      else if (this.#waiting.size > 0 || !this.#put(pending)) this.#waiting.push(pending);
      else this.gate.publish();
    });
  }

  #retry(): void {
    if (this.#waiting.size === 0) return;
    for (let head = this.#waiting.peek(); head !== undefined && this.#put(head); head = this.#waiting.peek())
      this.#waiting.shift();
    this.gate.publish();
  }

  /** False when the ring has no room now. */
  #put(pending: AwaitedAppend): boolean {
    const { gate, host } = this;
    const { message, topic, properties } = pending;
    const size = this.#sizeOf(pending);
    const start = gate.reserve(size);
    if (start < 0) return false;
    const { address: storeAddress, port: storePort } = host;
    writeRecord(gate.bytes, start, { ...message, topic, properties, storeAddress, storePort });
    gate.commit(size, message.topic, message.queueId, 1, pending);
    return true;
  }

  #sizeOf({ message, topic, properties }: AwaitedAppend): number {
    const { sysFlag, bornAddress, body } = message;
    const stored = withHostFlags(sysFlag, bornAddress.length === 16, this.host.address.length === 16);
    return recordBytes(stored, body.length, topic.length, properties.length);
  }

  /** What never fits would wait for ever, and all others behind it. */
  #tooLarge(pending: AwaitedAppend): string | undefined {
    const { topic, properties } = pending;
    if (topic.length > TOPIC_BYTES_MAX) return `a topic of ${topic.length} bytes does not fit a record`;
    if (properties.length > PROPERTIES_BYTES_MAX)
      return `properties of ${properties.length} bytes do not fit a record: at most ${PROPERTIES_BYTES_MAX}`;
    const size = this.#sizeOf(pending);
    // Only of half the ring's size is it certain that it fits when the ring is empty.
    return size * 2 > this.gate.bytes.length
      ? `a record of ${size} bytes needs a ring of twice its size (ringBytes)`
      : undefined;
  }
}
