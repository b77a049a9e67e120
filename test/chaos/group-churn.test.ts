import assert from 'node:assert/strict';
import { join } from 'node:path';
import { AdminClient, Producer, type ConsumerPeriods } from '../../client/index.js';
import { pause } from '../../client/consumer/pause.js';
import { systemClock } from '../../kernel/base/clock.js';
import { sized } from '../support/size.js';
import { until } from '../support/until.js';
import type { BrokerProcess } from './support/broker-process.js';
import { deliveriesOf, orderProblems, type Delivery, type MemberEnd } from './support/deliveries.js';
import { MemberProcess } from './support/member-process.js';
import { chaosTest, createTopic, type Scene } from './support/scene.js';

const TOPIC = 'T';
const QUEUES = 16;
const MEMBERS_MAX = 8;
const CHANGES = sized(50, 500);
const [ORDERED, SHARED] = ['ordered', 'shared'];
const SEND_EVERY_MS = 20;
const DONE_LIMIT_MS = 60_000;

/** A lock counts for its owner much shorter than for the broker, as with the defaults: nobody begins on one that may have ended. */
const LOCK_EXPIRY_MS = 4000;
const periods: ConsumerPeriods = {
  heartbeatMs: 1000,
  missingRouteMs: 100,
  rebalanceMs: 2000,
  persistMs: 300,
  pullErrorMs: 100,
  lockMs: 400,
  lockValidMs: 2000,
  lockRetryMs: 500,
};

describe('members of a group come and go', () => {
  chaosTest('joins, leaves and kills: nothing is lost, and queues that are locked keep their order', churn);
  chaosTest('a member that leaves while nothing else changes repeats nothing', leavers);
});

async function churn(scene: Scene): Promise<void> {
  const at = await Churn.begin(scene);
  try {
    for (let i = 0; i < MEMBERS_MAX / 2; i++) await at.join();
    for (let change = 0; change < CHANGES; change++) {
      await at.change();
      await at.more(5 + scene.random.below(30));
    }
    await at.finish();
    const { again, problems } = at.judge();
    process.stdout.write(
      `      seed ${scene.seed}: ${at.summary()}, ${again} deliveries of the shared group were repeats\n`,
    );
    assert.deepEqual(problems, []);
  } finally {
    await at.end();
  }
}

/** All queues of the shared group have settled before each leave, so that no move of a queue from one that stays repeats anything of it. */
async function leavers(scene: Scene): Promise<void> {
  const at = await Churn.begin(scene);
  try {
    await Promise.all(Array.from({ length: 4 }, () => at.join()));
    for (let left = 0; left < 3; left++) {
      await at.more(100);
      await at.leave();
    }
    await at.finish();
    const { problems } = at.judge();
    assert.deepEqual([...problems, ...at.repeatsOfLeavers()], []);
  } finally {
    await at.end();
  }
}

class Churn {
  readonly #members: MemberProcess[] = [];
  readonly #all: MemberProcess[] = [];
  readonly #ends = new Map<string, MemberEnd>();
  /** When each leaver had gone. */
  readonly #leftMs = new Map<string, number>();
  readonly #producer: Producer;
  readonly #admin: AdminClient;
  readonly #stopLoad = new AbortController();
  readonly #folder: string;
  readonly #counts = { joins: 0, leaves: 0, kills: 0 };
  /** Of each queue, when everything was sent. */
  readonly #maxOffsets = new Map<number, number>();
  #sent = 0;
  #loads: Promise<void>[] = [];

  private constructor(
    private readonly scene: Scene,
    private readonly broker: BrokerProcess,
  ) {
    this.#folder = scene.folder();
    this.#producer = new Producer({ namesrvAddr: broker.namesrv, group: 'P' });
    this.#admin = new AdminClient({ namesrvAddr: broker.namesrv });
  }

  static async begin(scene: Scene): Promise<Churn> {
    const broker = scene.broker({
      role: 'all',
      namesrvListenPort: 0,
      queueLockExpiryMs: LOCK_EXPIRY_MS,
      expiryScanIntervalMs: 200,
    });
    await broker.start();
    await createTopic(broker.port, TOPIC, QUEUES);
    const churn = new Churn(scene, broker);
    await until(async () => (await churn.#admin.topicRoute(TOPIC)) !== undefined, 'the topic has a route');
    await churn.#producer.start();
    churn.#loads = Array.from({ length: 4 }, () => churn.#load());
    return churn;
  }

  async change(): Promise<void> {
    const { random } = this.scene;
    const dice = random.below(4);
    if (this.#members.length < 2 || (dice < 2 && this.#members.length < MEMBERS_MAX)) await this.join();
    else if (dice % 2 === 0) await this.leave();
    else await this.#kill();
  }

  async join(): Promise<void> {
    const name = `member-${++this.#counts.joins}`;
    const member = new MemberProcess(name, {
      namesrvAddr: this.broker.namesrv,
      topic: TOPIC,
      file: join(this.#folder, name),
      orderedGroup: ORDERED!,
      sharedGroup: SHARED!,
      periods,
      workMs: 2,
      failing: 0.01,
    });
    this.#members.push(member);
    this.#all.push(member);
    await member.joined();
  }

  async leave(): Promise<void> {
    this.#counts.leaves++;
    const member = this.#take();
    await member.leave();
    this.#leftMs.set(member.name, systemClock.monoMs());
    this.#ends.set(member.name, { how: 'left', committed: new Map() });
  }

  async #kill(): Promise<void> {
    this.#counts.kills++;
    const member = this.#take();
    await member.kill9();
    this.#ends.set(member.name, { how: 'killed', committed: await this.#committed(ORDERED!) });
  }

  #take(): MemberProcess {
    return this.#members.splice(this.scene.random.below(this.#members.length), 1)[0]!;
  }

  /** Waits until so many more messages were sent. */
  async more(count: number): Promise<void> {
    const wanted = this.#sent + count;
    await until(() => this.#sent >= wanted, `${count} messages are sent`, DONE_LIMIT_MS);
  }

  /** Sends no more, waits until both groups have consumed everything, lets the last members leave. */
  async finish(): Promise<void> {
    this.#stopLoad.abort();
    await Promise.all(this.#loads);
    if (this.#members.length === 0) await this.join();
    for (const group of [ORDERED!, SHARED!]) {
      const consumed = async (): Promise<boolean> => {
        const { offsets } = await this.#admin.consumeStats(group, TOPIC);
        for (const [{ queueId }, { brokerOffset }] of offsets) this.#maxOffsets.set(queueId, brokerOffset);
        return offsets.every(([, { brokerOffset, consumerOffset }]) => brokerOffset === consumerOffset);
      };
      await until(consumed, `group ${group} has consumed everything`, DONE_LIMIT_MS);
    }
    while (this.#members.length > 0) await this.leave();
  }

  judge(): { problems: string[]; again: number } {
    const max = this.#maxOffsets;
    const problems: string[] = [];
    let again = 0;
    for (const [queueId, end] of max) {
      problems.push(...orderProblems(this.#deliveries(ORDERED!, queueId), this.#ends, end));
      const shared = this.#deliveries(SHARED!, queueId).filter(({ done }) => done);
      const offsets = new Set(shared.map(({ offset }) => offset));
      again += shared.length - offsets.size;
      if (offsets.size !== end)
        problems.push(`queue ${queueId}: ${end - offsets.size} of ${end} messages were not consumed`);
    }
    const total = [...max.values()].reduce((sum, end) => sum + end, 0);
    if (total !== this.#sent) problems.push(`${this.#sent} messages were sent, ${total} are stored`);
    return { problems, again };
  }

  summary(): string {
    const { joins, leaves, kills } = this.#counts;
    return `${this.#sent} messages, ${joins} joins, ${leaves} leaves, ${kills} kills`;
  }

  async end(): Promise<void> {
    this.#stopLoad.abort();
    await Promise.all(this.#all.map((member) => member.kill9()));
    await Promise.allSettled(this.#loads);
    await this.#producer.stop();
    await this.#admin.close();
  }
  /** Messages that a leaver had consumed of queues that it had to the end, and that were delivered once more after it had gone. */
  repeatsOfLeavers(): string[] {
    const found: string[] = [];
    for (const queueId of this.#maxOffsets.keys()) {
      const deliveries = this.#deliveries(SHARED!, queueId);
      for (const [name, goneMs] of this.#leftMs) {
        const last = deliveries.filter(({ beganMs }) => beganMs < goneMs).at(-1);
        if (last?.member !== name) continue;
        const done = new Set(
          deliveries.filter(({ member, done }) => member === name && done).map(({ offset }) => offset),
        );
        const again = deliveries.filter(({ beganMs, offset }) => beganMs > goneMs && done.has(offset));
        found.push(
          ...again.map(({ offset, member }) => `queue ${queueId} at ${offset}: ${name} did it, ${member} again`),
        );
      }
    }
    return found;
  }

  /** By the time at which they began. */
  #deliveries(group: string, queueId: number): Delivery[] {
    return this.#all
      .flatMap(({ name, file }) => deliveriesOf(file, group, name))
      .filter((one) => one.queueId === queueId)
      .sort((a, b) => a.beganMs - b.beganMs);
  }

  async #committed(group: string): Promise<Map<number, number>> {
    const { offsets } = await this.#admin.consumeStats(group, TOPIC);
    return new Map(offsets.map(([{ queueId }, { consumerOffset }]) => [queueId, consumerOffset]));
  }

  async #load(): Promise<void> {
    const { signal } = this.#stopLoad;
    while (!signal.aborted) {
      await this.#producer.send({ topic: TOPIC, body: `message ${this.#sent}` });
      this.#sent++;
      await pause(SEND_EVERY_MS, signal);
    }
  }
}
