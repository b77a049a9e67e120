import { connect, type Socket } from 'node:net';
import { RequestCode, ResponseCode } from '../../../protocol/codes.js';
import { decodeCommand, encodeRequest, Serialize, type Request } from '../../../protocol/command.js';
import { FrameAssembler } from '../../../protocol/frame.js';
import { encodeSendMessageV2 } from '../../../protocol/headers/send-message-v2.js';
import { decodeSendMessageResponse } from '../../../protocol/headers/send-message.js';
import { systemClock } from '../../../kernel/base/clock.js';
import type { SeededRandom } from '../../support/seeded-random.js';
import { Bodies } from './bodies.js';
import { Ledger, type Sent } from './ledger.js';

export interface LoadShape {
  readonly topic: string;
  readonly queues: number;
  readonly producers: number;
  /** Sends that each producer leaves unanswered. */
  readonly window: number;
  readonly bodyBytesMax: number;
}

/** Producers that send as fast as their windows allow, over frames of their own, and the ledger of what was answered. */
export class Load {
  readonly ledger: Ledger;
  readonly bodies: Bodies;
  readonly #producers: Producer[];
  /** Called at every acknowledgement. */
  onAcked: (acked: number) => void = () => undefined;

  constructor(
    readonly shape: LoadShape,
    random: SeededRandom,
  ) {
    this.ledger = new Ledger(shape.producers);
    this.bodies = new Bodies(random.below(2 ** 31), shape.bodyBytesMax);
    this.#producers = Array.from({ length: shape.producers }, (_, id) => new Producer(id, this, random));
  }

  get acked(): number {
    return this.ledger.acked;
  }

  /** Sends without an answer so far. */
  get open(): number {
    return this.#producers.reduce((sum, producer) => sum + producer.open, 0);
  }

  /** Connects to this port and sends until `pause` or `cut`. */
  start(port: number): void {
    for (const producer of this.#producers) producer.start(port);
  }

  /** Sends nothing new; answers still come. */
  pause(): void {
    for (const producer of this.#producers) producer.pause();
  }

  resume(): void {
    for (const producer of this.#producers) producer.resume();
  }

  /** Ends the connections: what is open is unknown from now on. */
  cut(): void {
    for (const producer of this.#producers) producer.cut();
  }
}

class Producer {
  readonly #open = new Map<number, Sent>();
  readonly #serialize: Serialize;
  #socket: Socket | undefined;
  #assembler = new FrameAssembler();
  #sending = false;

  constructor(
    private readonly id: number,
    private readonly load: Load,
    private readonly random: SeededRandom,
  ) {
    this.#serialize = id % 2 === 0 ? Serialize.JSON : Serialize.ROCKETMQ;
  }

  get open(): number {
    return this.#open.size;
  }

  start(port: number): void {
    this.cut();
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    this.#socket = socket;
    this.#assembler = new FrameAssembler();
    this.#sending = true;
    socket.on('connect', () => this.#fill());
    socket.on('data', (chunk) => {
      if (this.#socket !== socket) return;
      this.#assembler.push(chunk, (buffer, start, end) => this.#answer(decodeCommand(buffer, start, end)));
      this.#fill();
    });
    // Its end follows.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#socket === socket && this.cut());
  }

  pause(): void {
    this.#sending = false;
  }

  resume(): void {
    this.#sending = true;
    this.#fill();
  }

  cut(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
    this.#sending = false;
    for (const sent of this.#open.values()) sent.outcome = 'unknown';
    this.#open.clear();
  }

  #fill(): void {
    const { window } = this.load.shape;
    if (this.#socket === undefined || !this.#sending || this.#open.size >= window) return;
    this.#socket.cork();
    while (this.#open.size < window) this.#socket.write(this.#next());
    this.#socket.uncork();
  }

  /** The frame of the next message; its opaque is its sequence. */
  #next(): Buffer {
    const { ledger, bodies, shape } = this.load;
    const queueId = this.random.below(shape.queues);
    const sequence = ledger.send(this.id, queueId);
    this.#open.set(sequence, ledger.find(this.id, sequence)!);
    const header = {
      producerGroup: 'chaos',
      topic: shape.topic,
      defaultTopic: 'TBW102',
      defaultTopicQueueNums: shape.queues,
      queueId,
      sysFlag: 0,
      bornTimestamp: Math.trunc(systemClock.wallMs()),
      flag: 0,
      properties: `UNIQ_KEY\u0001${this.id}-${sequence}\u0002WAIT\u0001true`,
      unitMode: false,
      batch: false,
    };
    return encodeRequest({
      code: RequestCode.SEND_MESSAGE_V2,
      opaque: sequence,
      ext: encodeSendMessageV2(header, this.#serialize),
      body: bodies.make(this.id, sequence),
      serialize: this.#serialize,
    });
  }

  #answer(answer: Request): void {
    const { ledger } = this.load;
    const sent = this.#open.get(answer.opaque);
    if (sent === undefined) {
      ledger.strays.push(`producer ${this.id}, sequence ${answer.opaque}: code ${answer.code} ${answer.remark}`);
      return;
    }
    this.#open.delete(answer.opaque);
    if (answer.code !== ResponseCode.SUCCESS) {
      ledger.refuse(sent, answer.code);
      return;
    }
    const { queueOffset, msgId } = decodeSendMessageResponse(answer.ext);
    ledger.ack(sent, queueOffset, msgId);
    this.load.onAcked(ledger.acked);
  }
}
