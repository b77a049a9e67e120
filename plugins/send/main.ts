import { messageOf } from '../../kernel/base/errors.js';
import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { Clock, Options } from '../../kernel/tokens.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { FieldError } from '../../protocol/fields.js';
import { decodeSendV2 } from '../../protocol/headers/send-message-fast.js';
import { AppendGate } from '../commitlog/contract.js';
import { RequestRouter, type Connection, type Reply } from '../remoting/contract.js';
import { BatchEncoder } from './batch-encoder.js';
import { SendEncoder, type Encoded } from './encoder.js';
import { SendBack } from './send-back.js';
import { SendSteps } from './steps.js';
import { WaitingSends, type WaitingSend } from './waiting-sends.js';
import { SendWork } from './work.js';

const WAIT_CHECK_MS = 20;
const STOPPING: Reply = { code: ResponseCode.SERVICE_NOT_AVAILABLE, remark: 'the broker is shutting down' };

/** SEND_MESSAGE (10), SEND_MESSAGE_V2 (310) and SEND_BATCH_MESSAGE (320): checked, encoded into the ring, published once per chunk. */
@injectable()
export class Send implements PluginMain {
  readonly #work = new SendWork();
  readonly #waiting: WaitingSends;
  #timer: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor(
    @inject(RequestRouter) private readonly router: RequestRouter,
    @inject(AppendGate) private readonly gate: AppendGate,
    @inject(SendSteps) private readonly steps: SendSteps,
    @inject(SendEncoder) private readonly single: SendEncoder,
    @inject(BatchEncoder) private readonly batch: BatchEncoder,
    @inject(SendBack) private readonly sendBack: SendBack,
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#waiting = new WaitingSends(options.sendWaitBytesMax);
  }

  start(): void {
    const codes = [RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE];
    for (const code of codes) this.router.handleInPlace(code, (request, connection) => this.#send(request, connection));
    this.router.handle(RequestCode.CONSUMER_SEND_MSG_BACK, (request) =>
      this.#stopping ? STOPPING : this.sendBack.handle(request),
    );
    this.router.onChunkEnd(() => this.gate.publish());
    this.gate.onRoom(() => this.#retry());
    this.#timer = setInterval(() => this.#expire(), WAIT_CHECK_MS);
  }

  /** Refuses what comes from here on, then waits until everything taken is settled. */
  async close(): Promise<void> {
    this.#stopping = true;
    while (this.gate.waiting > 0 || this.#waiting.size > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    clearInterval(this.#timer);
  }

  #send(request: Request, connection: Connection): undefined {
    if (this.#stopping) {
      connection.reply(request, STOPPING);
      return;
    }
    // Behind others that wait: a connection's messages keep their order.
    if (this.#waiting.size > 0) this.#waiting.add(request, connection, this.clock.monoMs());
    else if (this.#process(request, connection) === 'ringFull')
      this.#waiting.add(request, connection, this.clock.monoMs());
  }

  #process(request: Request, connection: Connection): Encoded {
    const work = this.#work;
    work.request = request;
    work.connection = connection;
    work.refusal = undefined;
    const outcome = this.#decodes(work) && this.#passes(work) ? this.#encoded(work) : 'refused';
    if (outcome === 'refused') this.#answerRefusal(work);
    return outcome;
  }

  #decodes(work: SendWork): boolean {
    try {
      decodeSendV2(work.request, work.fields);
      return true;
    } catch (error) {
      if (error instanceof FieldError) return work.refuse(ResponseCode.SYSTEM_ERROR, error.message);
      throw error;
    }
  }

  #passes(work: SendWork): boolean {
    for (const step of this.steps.all) if (!step(work)) return false;
    return true;
  }

  #encoded(work: SendWork): Encoded {
    return work.fields.batch ? this.batch.encode(work) : this.single.encode(work);
  }

  #answerRefusal({ request, connection, refusal }: SendWork): void {
    const { region: MSG_REGION, traceOn: TRACE_ON } = this.single.answering;
    connection.reply(request, { ...refusal!, ext: { MSG_REGION, TRACE_ON } });
  }

  /** There is room again. */
  #retry(): void {
    if (this.#waiting.size === 0) return;
    for (let head = this.#waiting.peek(); head !== undefined; head = this.#waiting.peek()) {
      if (!head.connection.closed && this.#processLate(head) === 'ringFull') break;
      this.#waiting.shift();
    }
    this.gate.publish();
  }

  /** Nobody is above to answer what one of those that waited throws, and it must not keep the others. */
  #processLate({ request, connection }: WaitingSend): Encoded {
    try {
      return this.#process(request, connection);
    } catch (error) {
      connection.reply(request, { code: ResponseCode.SYSTEM_ERROR, remark: messageOf(error) });
      return 'refused';
    }
  }

  #expire(): void {
    const { waitTimeMillsInSendQueue: limit } = this.options;
    const oldest = this.clock.monoMs() - limit;
    for (
      let head = this.#waiting.peek();
      head !== undefined && head.sinceMonoMs < oldest;
      head = this.#waiting.peek()
    ) {
      this.#waiting.shift();
      head.connection.reply(head.request, {
        code: ResponseCode.SYSTEM_BUSY,
        remark: `[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while: waited longer than ${limit} ms (waitTimeMillsInSendQueue)`,
      });
    }
  }
}
