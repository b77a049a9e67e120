import assert from 'node:assert/strict';
import { sendAsk } from '../../support/send-pull.js';
import { RawClient } from '../../support/raw-client.js';
import { until } from '../../support/until.js';
import type { Driver, InMessage, OutMessage, Producer, PullConsumer, PushConsumer, Queue } from './driver.js';
import { arrived, createTopic, driver, mqadmin, routed } from './suite.js';
import { smallFiles } from './store-folder.js';
import { startTarget, type Target, type TargetKind } from './target.js';

const loadThreads = 4;
const loadBodyBytes = 1024;
const delayMs = 5000;
/** The delay level of a first retry. */
const delayLevel = 3;
const neverLevel = 4;
const group = { all: 'relay_all', sql: 'relay_sql', retry: 'relay_retry', transactions: 'relay_tx' };
const topic = { many: 'RelayMany', batch: 'RelayBatch', later: 'RelayLater', retried: 'RelayRetried', tx: 'RelayTx' };

/** All that a reader sees of a message, but for what its client adds by itself. */
export function essence(message: InMessage): unknown {
  const { CONSUME_START_TIME: _, MIN_OFFSET: __, MAX_OFFSET: ___, ...properties } = message.properties;
  return { ...message, body: message.body.toString('base64'), thread: undefined, properties };
}

/**
 * One store that two kinds of brokers serve in turns. Each turn finds all that the turns before it left, goes on where they
 * stopped, and leaves messages behind that are due in the next one.
 */
export class Relay {
  #served: Target | undefined;
  #last: Target | undefined;
  #turn = 0;
  #java: Driver | undefined;
  /** What each queue held when the last broker stopped. */
  readonly #history = new Map<string, InMessage[]>();
  readonly #queues: Queue[] = [];
  /** Messages of `topic.many` up to which `group.all` has consumed, by queue. */
  readonly #consumed = new Map<number, number>();

  /** Keys of what transactions have brought, in order. */
  readonly #committed: string[] = [];

  constructor(
    private readonly storeDir: string,
    private readonly namesrv: string,
    private readonly loadMessages = 1500,
  ) {}

  get served(): Target {
    assert.ok(this.#served, 'nobody serves the store');
    return this.#served;
  }

  async begin(kind: TargetKind): Promise<void> {
    this.#turn += 1;
    this.#java = await driver();
    const { storeDir, namesrv } = this;
    this.#served = await startTarget({
      kind,
      storeDir,
      namesrv,
      options: smallFiles,
      ...(this.#last === undefined ? {} : { sameAddressesAs: this.#last }),
    });
    this.#last = this.#served;
    for (const name of new Set(this.#queues.map((queue) => queue.topic))) await routed(this.served, name);
    if (this.#turn === 1) await this.#firstTopics();
  }

  async stop(): Promise<void> {
    await this.#served?.stop();
    this.#served = undefined;
  }

  async kill9(): Promise<void> {
    await this.#served?.kill9();
    this.#served = undefined;
  }

  /** Bodies, properties, ids, offsets, times: as the last broker served them, and more behind them. */
  async findsEverything(): Promise<void> {
    const found = await this.readAll();
    for (const [name, before] of this.#history) {
      const now = found.get(name) ?? [];
      assert.ok(now.length >= before.length, `${name} has ${now.length} messages and had ${before.length}`);
      before.forEach((message, i) => assert.deepEqual(essence(now[i] as InMessage), essence(message), `${name} ${i}`));
    }
  }

  async remember(): Promise<void> {
    for (const [name, messages] of await this.readAll()) this.#history.set(name, messages);
  }

  /** Singles with tags, keys and properties, a batch, many small ones that roll files, a topic that this turn makes. */
  async writes(): Promise<void> {
    const producer = await this.java.producer(this.namesrv);
    const many = this.#queues.filter((queue) => queue.topic === topic.many);
    for (const [i, message] of this.#varied().entries()) await this.#sendNext(producer, message, many[i % many.length]);
    const batch = Array.from({ length: 10 }, (_, i) => ({
      topic: topic.batch,
      body: `${i}`,
      keys: `b${this.#turn}.${i}`,
    }));
    assert.equal((await producer.sendBatch(batch, this.#queueOf(topic.batch))).status, 'SEND_OK');
    const made = `RelayMade${this.#turn}`;
    const first = await producer.send({ topic: made, body: 'made on send', keys: 'm' });
    this.#queues.push(first.queue);
    await producer.startLoad(topic.many, loadThreads, loadBodyBytes);
    await until(async () => (await producer.loadCount()) >= this.loadMessages, 'the load has run', 60_000);
    assert.equal((await producer.stopLoad()).failed, 0);
    await producer.close();
  }

  /** A message that came over IPv6 (the real broker listens on all addresses, ours here on 127.0.0.1 alone). */
  async writesOverIpv6(): Promise<void> {
    const port = this.served.broker.slice(this.served.broker.lastIndexOf(':'));
    using client = await RawClient.connect(`::1${port}`);
    const { code, ask } = sendAsk({ topic: topic.batch, queueId: 1, body: Buffer.from('over IPv6') });
    assert.equal((await client.ask(code, ask)).code, 0);
  }

  /** A group goes on behind the last message that it had in an earlier turn: each comes once. */
  async consumes(): Promise<void> {
    const all = await this.readAll();
    const consumer = await this.java.pushConsumer({ namesrv: this.namesrv, group: group.all, topic: topic.many });
    const expected: string[] = [];
    for (const queue of this.#queues.filter((one) => one.topic === topic.many)) {
      const end = all.get(nameOf(queue))?.length ?? 0;
      for (let i = this.#consumed.get(queue.queueId) ?? 0; i < end; i++) expected.push(`${queue.queueId}/${i}`);
      this.#consumed.set(queue.queueId, end);
    }
    const got = (await arrived(consumer, expected.length)).map((m) => `${m.queueId}/${m.queueOffset}`);
    assert.deepEqual(got.sort(), expected.sort());
    await consumer.close();
  }

  /** A group with an SQL92 filter: of this turn's messages those that match, once. */
  async consumesFiltered(): Promise<void> {
    const expression = { type: 'SQL92', text: 'number > 3' } as const;
    const request = { namesrv: this.namesrv, group: group.sql, topic: topic.many, expression };
    const consumer = await this.java.pushConsumer(request);
    const expected = this.#varied().filter((message) => Number(message.properties?.['number']) > 3);
    const got = await arrived(consumer, expected.length);
    assert.deepEqual(got.map((m) => m.properties['KEYS']).sort(), expected.map((m) => m.keys).sort());
    await consumer.close();
  }

  /** What waits when this broker stops: a message sent back, and delayed ones. */
  async leavesPending(): Promise<void> {
    const producer = await this.java.producer(this.namesrv);
    const consumer = await this.#retrying();
    await producer.send({ topic: topic.retried, body: 'refused once', keys: `r${this.#turn}` });
    const later = (keys: string, delayTimeLevel: number): OutMessage => ({
      topic: topic.later,
      body: keys,
      keys,
      delayTimeLevel,
    });
    await producer.send(later(`never${this.#turn}`, neverLevel));
    await producer.send(later(`later${this.#turn}`, delayLevel));
    await arrived(consumer, 1);
    await Promise.all([consumer.close(), producer.close()]);
  }

  /** What the turn before left pending comes now: once, and not early. */
  async pendingArrives(): Promise<void> {
    const consumer = await this.#retrying();
    const [retried, ...more] = await arrived(consumer, 1);
    await consumer.close();
    assert.deepEqual([retried?.properties['KEYS'], retried?.reconsumeTimes, more.length], [`r${this.#turn - 1}`, 1, 0]);
    const original = this.#history.get(`${topic.retried}/0`)?.find((m) => m.msgId === retried?.msgId);
    assert.ok(original !== undefined && retried !== undefined);
    assert.ok(retried.storeTimestamp - original.storeTimestamp >= delayMs, 'the retry waited');
    const reader = await this.java.pullConsumer(this.namesrv, 'relay_reader');
    const had = this.#history.get(`${topic.later}/0`)?.length ?? 0;
    const now = await reader.drain(this.#queueOf(topic.later), had + 1);
    await reader.close();
    assert.deepEqual(
      now.slice(had).map((m) => m.properties['KEYS']),
      [`later${this.#turn - 1}`],
    );
    const [late] = now.slice(had);
    assert.ok(late !== undefined && late.storeTimestamp - late.bornTimestamp >= delayMs, 'the delayed one waited');
  }

  /** Every end of a transaction but the last two, which are pending. They end in the next turn. */
  async transactions(): Promise<void> {
    const producer = await this.java.transactionProducer(this.namesrv, group.transactions);
    const message = (keys: string): OutMessage => ({ topic: topic.tx, body: keys, keys: `${keys}${this.#turn}` });
    await producer.send(message('rolledBack'), 'ROLLBACK_MESSAGE');
    await producer.send(message('committed'), 'COMMIT_MESSAGE');
    await producer.send(message('pendingRollback'), 'UNKNOW', 'ROLLBACK_MESSAGE');
    await producer.send(message('pendingCommit'), 'UNKNOW', 'COMMIT_MESSAGE');
    await this.#isCommitted(`committed${this.#turn}`);
    await producer.close();
  }

  /** The broker asks about the half messages that the turn before left and takes the answers. */
  async transactionsAreChecked(): Promise<void> {
    const producer = await this.java.transactionProducer(this.namesrv, group.transactions);
    await producer.answerChecks();
    await this.#isCommitted(`pendingCommit${this.#turn - 1}`);
    await producer.close();
  }

  async #isCommitted(key: string): Promise<void> {
    this.#committed.push(key);
    const reader = await this.java.pullConsumer(this.namesrv, 'relay_reader');
    const found = await reader.drain(this.#queueOf(topic.tx), this.#committed.length);
    assert.deepEqual(
      found.map((m) => m.properties['KEYS']),
      this.#committed,
    );
    await reader.close();
  }

  async readAll(): Promise<Map<string, InMessage[]>> {
    const reader = await this.java.pullConsumer(this.namesrv, 'relay_reader');
    const all = new Map<string, InMessage[]>();
    for (const queue of this.#queues) all.set(nameOf(queue), await settled(reader, queue, this.#history));
    await reader.close();
    return all;
  }

  private get java(): Driver {
    assert.ok(this.#java);
    return this.#java;
  }

  #retrying(): Promise<PushConsumer> {
    return this.java.pushConsumer({
      namesrv: this.namesrv,
      group: group.retry,
      topic: topic.retried,
      refusals: 1,
    });
  }

  async #firstTopics(): Promise<void> {
    const { served } = this;
    this.#queues.push(...(await createTopic(served, topic.many, 4)), ...(await createTopic(served, topic.batch, 2)));
    for (const name of [topic.later, topic.retried, topic.tx])
      this.#queues.push(...(await createTopic(served, name, 1)));
    // mqadmin complains that an ordered topic has no order setting before it makes one.
    const odd = ['-n', this.namesrv, '-t', 'RelayOrdered', '-r', '3', '-w', '2', '-p', '4', '-o', 'true'];
    await this.java.mqadmin('updateTopic', '-b', served.broker, ...odd);
    await mqadmin(
      served,
      'updateSubGroup',
      '-b',
      served.broker,
      '-g',
      'relay_odd',
      ...['-d', 'false', '-q', '3', '-r', '2'],
    );
  }

  #queueOf(name: string): Queue {
    const queue = this.#queues.find((one) => one.topic === name);
    assert.ok(queue, name);
    return queue;
  }

  #varied(): OutMessage[] {
    return Array.from({ length: 12 }, (_, i) => ({
      topic: topic.many,
      body: i % 5 === 0 ? '大'.repeat(20_000) : `消息 ${i} 🚀`,
      keys: `k${this.#turn}.${i}`,
      tags: i % 2 === 0 ? 'even' : 'odd',
      properties: { number: String(i), 颜色: '红', turn: String(this.#turn) },
      flag: i,
    }));
  }

  async #sendNext(producer: Producer, message: OutMessage, queue: Queue | undefined): Promise<void> {
    assert.ok(queue);
    const had = this.#history.get(nameOf(queue))?.length;
    const { queueOffset } = await producer.send(message, queue);
    if (had !== undefined) assert.ok(queueOffset >= had, `offset ${queueOffset} is behind the ${had} from before`);
  }
}

function nameOf(queue: Queue): string {
  return `${queue.topic}/${queue.queueId}`;
}

function settled(reader: PullConsumer, queue: Queue, history: ReadonlyMap<string, InMessage[]>): Promise<InMessage[]> {
  return reader.drain(queue, history.get(nameOf(queue))?.length ?? 0);
}
