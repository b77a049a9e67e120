import assert from 'node:assert/strict';
import { loadAllocationRule } from '../../plugins/allocation/load.js';
import type { AllocationRule } from '../../plugins/allocation/contract.js';
import { decodeConsumerList } from '../../protocol/bodies/consumer-list.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { encodeGetConsumerListByGroup } from '../../protocol/headers/get-consumer-list-by-group.js';
import { KernelProcess } from '../support/kernel-command.js';
import { RawClient } from '../support/raw-client.js';
import { until } from '../support/until.js';
import type { Producer, PushConsumer, Queue, Strategy } from './support/driver.js';
import { createTopic, driver, patienceMs, target, unique } from './support/suite.js';

const queueCount = 16;

/** Members look for themselves every 20 s; sooner only when the broker tells them that the group changed. */
const notifiedMs = 15_000;

interface Member {
  readonly clientId: string;
  /** Keys of the messages it consumed, in order. */
  keys(): readonly string[];
}

class JavaMember implements Member {
  constructor(
    readonly consumer: PushConsumer,
    readonly clientId: string,
  ) {}

  keys(): readonly string[] {
    return this.consumer.received.map(({ properties }) => properties['KEYS'] ?? '');
  }
}

/** A `kernel consume --json`. */
class OurMember implements Member {
  readonly process: KernelProcess;
  clientId = '';

  constructor(args: readonly string[]) {
    this.process = new KernelProcess(['consume', '--json', ...args]);
  }

  keys(): readonly string[] {
    const lines = this.process.stdout.split('\n').slice(0, -1);
    return lines.map((line) => (JSON.parse(line) as { properties: { KEYS: string } }).properties.KEYS);
  }
}

/** One group of both kinds of members on a topic of 16 queues. */
class Group implements AsyncDisposable {
  readonly members: Member[] = [];
  readonly sent: string[] = [];
  readonly #name = unique('allocated');
  readonly #topic = unique('allocated');
  #left: (readonly string[])[] = [];
  #queues: Queue[] = [];
  #producer!: Producer;
  #admin!: RawClient;

  private constructor(
    readonly rule: AllocationRule,
    readonly strategy: Strategy,
    readonly spec: string,
  ) {}

  static async of(spec: string, strategy: Strategy): Promise<Group> {
    const group = new Group(await loadAllocationRule(spec), strategy, spec);
    const served = await target();
    group.#queues = await createTopic(served, group.#topic, queueCount);
    group.#producer = await (await driver()).producer(served.namesrv);
    group.#admin = await RawClient.connect(served.broker);
    return group;
  }

  async joinJava(): Promise<JavaMember> {
    const [java, { namesrv }] = [await driver(), await target()];
    const request = { namesrv, group: this.#name, topic: this.#topic, allocation: this.strategy };
    const consumer = await java.pushConsumer(request);
    const member = new JavaMember(consumer, String(await consumer.call('buildMQClientId')));
    this.members.push(member);
    return member;
  }

  async joinOurs(): Promise<OurMember> {
    const { namesrv } = await target();
    const member = new OurMember(['-n', namesrv, '-t', this.#topic, '-g', this.#name, '--allocate', this.spec]);
    this.members.push(member);
    const others = this.members.map(({ clientId }) => clientId);
    const joined = async (): Promise<boolean> => {
      member.clientId = (await this.#clientIds()).find((id) => !others.includes(id)) ?? '';
      return member.clientId !== '';
    };
    await until(joined, 'our consumer joins', patienceMs);
    return member;
  }

  /** After it has left; what it consumed still counts. */
  gone(member: Member): void {
    this.members.splice(this.members.indexOf(member), 1);
    this.#left.push(member.keys());
  }

  /** Sends rounds until one goes to the owners that the rule names, then a long one that must. None may be lost. */
  async settles(): Promise<void> {
    const wanted = async (): Promise<boolean> => {
      const ids = await this.#clientIds();
      return ids.length === this.members.length && this.#ownersAre(ids, await this.#round(1));
    };
    await until(wanted, `${queueCount} queues are shared among ${this.members.length} by ${this.spec}`, notifiedMs);
    const ids = await this.#clientIds();
    assert.ok(this.#ownersAre(ids, await this.#round(5)), 'once shared they stay so, and each message comes once');
  }

  /** How often each message was consumed, by those who left, too. */
  consumed(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const key of [...this.#left, ...this.members.map((member) => member.keys())].flat())
      counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const member of this.members) {
      if (member instanceof OurMember) member.process.signal('SIGKILL');
      if (member instanceof JavaMember) await member.consumer.close();
    }
    await this.#producer.close();
    this.#admin[Symbol.dispose]();
  }

  async #clientIds(): Promise<readonly string[]> {
    const ext = encodeGetConsumerListByGroup({ consumerGroup: this.#name });
    const { code, body } = await this.#admin.ask(RequestCode.GET_CONSUMER_LIST_BY_GROUP, { ext });
    return code === ResponseCode.SUCCESS ? [...decodeConsumerList(body).consumerIdList].sort() : [];
  }

  /** So many messages to each queue; returns their keys by queue when all have been consumed. */
  async #round(perQueue: number): Promise<string[][]> {
    const keys = this.#queues.map(({ queueId }) =>
      Array.from({ length: perQueue }, (_, at) => `q${queueId}-${this.sent.length + at}`),
    );
    this.sent.push(...keys.flat());
    const sends = keys.flatMap((list, queueId) =>
      list.map((key) => this.#producer.send({ topic: this.#topic, keys: key, body: key }, this.#queues[queueId])),
    );
    await Promise.all(sends);
    const all = (): boolean => keys.flat().every((key) => this.members.some((member) => member.keys().includes(key)));
    await until(all, 'the round arrived', patienceMs);
    return keys;
  }

  /** Each message once, and by its queue's owner. */
  #ownersAre(ids: readonly string[], keys: readonly string[][]): boolean {
    return this.members.every((member) => {
      const share = this.rule.allocate(this.#name, member.clientId, this.#queues, ids).map(({ queueId }) => queueId);
      const wanted = share.flatMap((queueId) => keys[queueId]!);
      const got = member.keys().filter((key) => keys.some((list) => list.includes(key)));
      return got.sort().join() === wanted.sort().join();
    });
  }
}

describe('a group of Java consumers and kernel consume', () => {
  for (const [spec, strategy] of [
    ['circle', { rule: 'circle' }],
    ['consistent-hash:20', { rule: 'consistent-hash', virtualNodes: 20 }],
  ] as const)
    it(`shares ${queueCount} queues by ${spec} while members join, leave and are killed`, async function () {
      this.timeout(150_000);
      await using group = await Group.of(spec, strategy);
      const first = await group.joinJava();
      await group.settles();
      const ours = await group.joinOurs();
      await group.settles();
      await group.joinJava();
      await group.settles();

      const consumedByOurs = ours.keys();
      ours.process.signal('SIGINT');
      assert.equal(await ours.process.end(), 0, ours.process.stderr);
      group.gone(ours);
      const before = group.consumed();
      await group.settles();
      const after = group.consumed();
      for (const key of consumedByOurs) assert.equal(after.get(key), before.get(key), `${key} comes again`);

      const killed = await group.joinOurs();
      await group.settles();
      killed.process.signal('SIGKILL');
      await killed.process.end();
      group.gone(killed);
      await first.consumer.close();
      group.gone(first);
      await group.settles();
      assert.equal(ours.process.stderr + killed.process.stderr, '');
      const lost = group.sent.filter((key) => !group.consumed().has(key));
      assert.deepEqual(lost, []);
    });
});
