import { until } from '../../support/until.js';
import { startJava, type JavaProgram, type StartOptions } from './java.js';

/** A message to send. Text bodies are sent as UTF-8. */
export interface OutMessage {
  readonly topic: string;
  readonly body: string | Buffer;
  readonly tags?: string;
  readonly keys?: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly flag?: number;
  /** Property WAIT; the client's default is true. */
  readonly wait?: boolean;
  readonly delayTimeLevel?: number;
}

/** A message as the Java client gave it to its application. */
export interface InMessage {
  readonly topic: string;
  readonly queueId: number;
  readonly queueOffset: number;
  readonly commitLogOffset: number;
  readonly msgId: string;
  readonly offsetMsgId: string | null;
  readonly body: Buffer;
  readonly properties: Readonly<Record<string, string>>;
  readonly flag: number;
  readonly sysFlag: number;
  readonly storeSize: number;
  readonly bodyCRC: number;
  readonly bornTimestamp: number;
  readonly storeTimestamp: number;
  readonly bornHost: string;
  readonly storeHost: string;
  readonly reconsumeTimes: number;
  /** Name of the listener's thread; push consumers only. */
  readonly thread?: string;
  /** When it was called, on the monotonic clock of this machine; push consumers only. */
  readonly heardMs?: number;
}

export interface Queue {
  readonly topic: string;
  readonly brokerName: string;
  readonly queueId: number;
}

export interface SendResult {
  readonly status: 'SEND_OK' | 'FLUSH_DISK_TIMEOUT' | 'FLUSH_SLAVE_TIMEOUT' | 'SLAVE_NOT_AVAILABLE';
  readonly msgId: string;
  readonly offsetMsgId: string;
  readonly queue: Queue;
  readonly queueOffset: number;
  readonly regionId: string;
}

export interface PullResult {
  readonly status: 'FOUND' | 'NO_NEW_MSG' | 'NO_MATCHED_MSG' | 'OFFSET_ILLEGAL';
  readonly nextBeginOffset: number;
  readonly minOffset: number;
  readonly maxOffset: number;
  readonly messages: InMessage[];
}

export interface Expression {
  /** TAG, SQL92, or that of a filter plugin. */
  readonly type: string;
  readonly text: string;
}

/** Properties of a Java client by bean name; `namesrvAddr` and the group are needed. */
export type ClientConfig = Readonly<Record<string, string | number | boolean>>;

export interface PushRequest {
  readonly namesrv: string;
  readonly group: string;
  readonly topic: string;
  /** All messages when absent. */
  readonly expression?: Expression;
  readonly broadcasting?: boolean;
  readonly orderly?: boolean;
  /** Writes what became of each message into the trace topic. */
  readonly traced?: boolean;
  /** So many attempts of each message are answered RECONSUME_LATER. */
  readonly refusals?: number;
  readonly config?: ClientConfig;
  /** AllocateMessageQueueAveragely when absent. */
  readonly allocation?: Strategy;
}

/** An allocation strategy as mqk.Allocations makes it. */
export interface Strategy {
  readonly rule: string;
  readonly [parameter: string]: unknown;
}

export type TransactionEnd = 'COMMIT_MESSAGE' | 'ROLLBACK_MESSAGE' | 'UNKNOW';

/** What RocketMQ's store sees in a folder after its start. */
export interface StoreState {
  readonly minPhyOffset: number;
  readonly maxPhyOffset: number;
  readonly queues: readonly { topic: string; queueId: number; minOffset: number; maxOffset: number }[];
  /** Records dispatched by recovery and start. */
  readonly dispatched: number;
}

type Raw<T extends { body: Buffer }> = Omit<T, 'body'> & { body: string };

const dispatchDeadlineMs = 10_000;

let handles = 0;

/** One JVM that runs any number of unmodified RocketMQ clients. */
export class Driver {
  private readonly heard = new Map<string, InMessage[]>();

  private constructor(private readonly program: JavaProgram) {
    program.listen((event, handle, data) => {
      if (event === 'message') this.heard.get(handle)?.push(incoming(data as Raw<InMessage>));
    });
  }

  static async start(options: StartOptions = {}): Promise<Driver> {
    return new Driver(await startJava('mqk.Driver', [], options));
  }

  stop(): Promise<void> {
    return this.program.stop();
  }

  get pid(): number {
    return this.program.pid;
  }

  async producer(namesrv: string, config: ClientConfig = {}): Promise<Producer> {
    const base = { producerGroup: 'interop_producer', namesrvAddr: namesrv };
    return new Producer(this.program, await this.create('producer', { ...base, ...config }, true));
  }

  /** Writes what became of each message into the trace topic. */
  async tracedProducer(namesrv: string): Promise<Producer> {
    const config = { producerGroup: 'interop_traced', namesrvAddr: namesrv };
    return new Producer(this.program, await this.create('tracedProducer', config, true));
  }

  /** Each message ends as its property `local` says; see TransactionProducer.java. */
  async transactionProducer(namesrv: string, group: string): Promise<TransactionProducer> {
    const config = { producerGroup: group, namesrvAddr: namesrv };
    return new TransactionProducer(this.program, await this.create('transaction', config, true));
  }

  /** RocketMQ's own store on a folder, as a broker's start brings it up. It holds the store's lock until it is closed. */
  async openStore(folder: string, config: ClientConfig): Promise<StoreState> {
    return (await this.program.call('openStore', { folder, config })) as StoreState;
  }

  async closeStore(folder: string): Promise<void> {
    await this.program.call('closeStore', { folder });
  }

  /** The files below `config/` as a broker of 4.9.7 reads them, by name; `persist` lets it write them again. */
  async settings(folder: string, persist = false): Promise<Readonly<Record<string, string>>> {
    return (await this.program.call('settings', { folder, persist })) as Record<string, string>;
  }

  /** Begins at the first message of a queue unless the configuration says otherwise. */
  async pushConsumer(request: PushRequest): Promise<PushConsumer> {
    const config = {
      consumerGroup: request.group,
      namesrvAddr: request.namesrv,
      consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
      messageModel: request.broadcasting === true ? 'BROADCASTING' : 'CLUSTERING',
      persistConsumerOffsetInterval: 300,
      // `close` lets running listeners return before it commits: what a test has received is consumed then.
      awaitTerminationMillisWhenShutdown: 5_000,
      ...request.config,
    };
    const { allocation } = request;
    const handle = await this.create(
      request.traced === true ? 'tracedPush' : 'push',
      config,
      false,
      allocation === undefined ? {} : { allocation },
    );
    const received: InMessage[] = [];
    this.heard.set(handle, received);
    await this.program.call('listen', {
      handle,
      topic: request.topic,
      expression: request.expression ?? { type: 'TAG', text: '*' },
      orderly: request.orderly ?? false,
      refusals: request.refusals ?? 0,
    });
    return new PushConsumer(this.program, handle, received);
  }

  async litePullConsumer(namesrv: string, group: string, config: ClientConfig = {}): Promise<LitePullConsumer> {
    const base = {
      consumerGroup: group,
      namesrvAddr: namesrv,
      consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
      autoCommit: false,
    };
    return new LitePullConsumer(this.program, await this.create('litePull', { ...base, ...config }, false));
  }

  async pullConsumer(namesrv: string, group: string, config: ClientConfig = {}): Promise<PullConsumer> {
    const base = { consumerGroup: group, namesrvAddr: namesrv, persistConsumerOffsetInterval: 300 };
    return new PullConsumer(this.program, await this.create('pull', { ...base, ...config }, true));
  }

  /** DefaultMQAdminExt: any of its methods through `call`. */
  async admin(namesrv: string): Promise<Client> {
    const config = { namesrvAddr: namesrv, adminExtGroup: 'interop_admin' };
    return new Client(this.program, await this.create('admin', config, true));
  }

  /** RocketMQ's own mqadmin: what it printed on both streams. */
  async mqadmin(...args: string[]): Promise<{ out: string; err: string }> {
    return (await this.program.call('mqadmin', { args })) as { out: string; err: string };
  }

  /** Every client has a client id and connections of its own, as if it ran in another process. */
  private async create(kind: string, config: ClientConfig, start: boolean, more: object = {}): Promise<string> {
    const handle = `${kind}-${++handles}`;
    await this.program.call('create', { handle, kind, start, config: { instanceName: handle, ...config }, ...more });
    return handle;
  }
}

/** Any Java client; `call` reaches each of its methods, arguments and result as JSON. */
export class Client {
  constructor(
    protected readonly program: JavaProgram,
    readonly handle: string,
  ) {}

  call(method: string, ...args: unknown[]): Promise<unknown> {
    return this.program.call('call', { handle: this.handle, method, args });
  }

  async close(): Promise<void> {
    await this.program.call('close', { handle: this.handle });
  }
}

export interface LoadResult {
  readonly acknowledged: (SendResult & { key: string; body: string })[];
  readonly failed: number;
}

export class Producer extends Client {
  send(message: OutMessage, queue?: Queue): Promise<SendResult> {
    return this.sendAs('sync', { message: outgoing(message) }, queue);
  }

  sendAsync(message: OutMessage, queue?: Queue): Promise<SendResult> {
    return this.sendAs('async', { message: outgoing(message) }, queue);
  }

  async sendOneway(message: OutMessage, queue?: Queue): Promise<void> {
    await this.sendAs('oneway', { message: outgoing(message) }, queue);
  }

  sendBatch(messages: readonly OutMessage[], queue?: Queue): Promise<SendResult> {
    return this.sendAs('batch', { messages: messages.map(outgoing) }, queue);
  }

  /** Sync sends from some threads until `stopLoad`. */
  async startLoad(topic: string, threads: number, bodyBytes: number): Promise<void> {
    await this.program.call('load', { handle: this.handle, topic, threads, bodyBytes });
  }

  async loadCount(): Promise<number> {
    return (await this.program.call('loadCount', { handle: this.handle })) as number;
  }

  async stopLoad(): Promise<LoadResult> {
    return (await this.program.call('loadStop', { handle: this.handle })) as LoadResult;
  }

  private async sendAs(mode: string, what: Record<string, unknown>, queue?: Queue): Promise<SendResult> {
    const args = { handle: this.handle, mode, ...what, ...(queue === undefined ? {} : { queue }) };
    return (await this.program.call('send', args)) as SendResult;
  }
}

export class TransactionProducer extends Client {
  /** The half message is stored and, unless `local` is UNKNOW, ended. HELD ones are committed when they are released. */
  async send(
    message: OutMessage,
    local: TransactionEnd | 'HELD',
    checked: TransactionEnd = 'UNKNOW',
  ): Promise<SendResult> {
    const properties = { ...message.properties, local, checked };
    return (await this.call('sendMessageInTransaction', outgoing({ ...message, properties }), null)) as SendResult;
  }

  /** From now on checks are answered with a message's property `checked`. */
  async answerChecks(): Promise<void> {
    await this.call('setAnswering', true);
  }

  async release(): Promise<void> {
    await this.call('release');
  }

  /** How often it was asked about the message with these keys. */
  async checksOf(keys: string): Promise<number> {
    return ((await this.call('getChecks')) as Record<string, number>)[keys] ?? 0;
  }
}

export class PushConsumer extends Client {
  constructor(
    program: JavaProgram,
    handle: string,
    /** Grows with each call of the listener. */
    readonly received: readonly InMessage[],
  ) {
    super(program, handle);
  }
}

export class LitePullConsumer extends Client {
  start(): Promise<unknown> {
    return this.call('start');
  }

  subscribe(topic: string, expression: Expression = { type: 'TAG', text: '*' }): Promise<unknown> {
    return this.call('subscribe', topic, expression);
  }

  async poll(timeoutMs: number): Promise<InMessage[]> {
    return ((await this.call('poll', timeoutMs)) as Raw<InMessage>[]).map(incoming);
  }

  async queues(topic: string): Promise<Queue[]> {
    return (await this.call('fetchMessageQueues', topic)) as Queue[];
  }
}

export class PullConsumer extends Client {
  async queues(topic: string): Promise<Queue[]> {
    const queues = (await this.call('fetchSubscribeMessageQueues', topic)) as Queue[];
    return queues.sort((a, b) => a.queueId - b.queueId);
  }

  async offset(which: 'minOffset' | 'maxOffset', queue: Queue): Promise<number> {
    return (await this.call(which, queue)) as number;
  }

  async pull(queue: Queue, expression: string | Expression, offset: number, maxNums: number): Promise<PullResult> {
    const result = (await this.call('pull', queue, expression, offset, maxNums)) as Omit<PullResult, 'messages'> & {
      messages: Raw<InMessage>[];
    };
    return { ...result, messages: result.messages.map(incoming) };
  }

  /** Waits until a queue ends at least at `end`: what a broker acknowledged it dispatches a moment later. */
  async filled(queue: Queue, end: number): Promise<void> {
    const reached = async (): Promise<boolean> => (await this.offset('maxOffset', queue)) >= end;
    await until(reached, `queue ${queue.queueId} of ${queue.topic} has ${end} messages`, dispatchDeadlineMs);
  }

  /** Every message of a queue, by pulls from its first offset to its last; waits until it has `atLeast`. */
  async drain(queue: Queue, atLeast: number): Promise<InMessage[]> {
    await this.filled(queue, atLeast);
    const messages: InMessage[] = [];
    const end = await this.offset('maxOffset', queue);
    let offset = await this.offset('minOffset', queue);
    while (offset < end) {
      const pulled = await this.pull(queue, '*', offset, 32);
      if (pulled.status !== 'FOUND') throw new Error(`pull at ${offset} of ${end} answered ${pulled.status}`);
      messages.push(...pulled.messages);
      offset = pulled.nextBeginOffset;
    }
    return messages;
  }
}

function outgoing(message: OutMessage): Record<string, unknown> {
  return { ...message, body: Buffer.from(message.body).toString('base64') };
}

function incoming(message: Raw<InMessage>): InMessage {
  return { ...message, body: Buffer.from(message.body, 'base64') };
}
