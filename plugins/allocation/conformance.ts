import assert from 'node:assert/strict';
import { answerMsMax, fast, type TestRunner } from '../conformance/contract.js';
import {
  defineAllocation,
  queueName,
  type AllocationPlugin,
  type AllocationRule,
  type MessageQueue,
} from './contract.js';

/** What the author of an allocation rule says about it; the suite checks that, and what holds for every rule. */
export interface AllocationCases {
  /** Options, or those of each client for a rule that every client is given another way. Default: none. */
  readonly options?: string | ((clientId: string) => string);
  /** Who gets what: to each client the numbers of its queues in the list of queues, in the order of the rule's answer. */
  readonly expected: readonly {
    readonly queues: readonly MessageQueue[];
    readonly shares: Readonly<Record<string, readonly number[]>>;
  }[];
  /** True: the rule may leave queues to nobody. Default: each queue has exactly one owner, whatever the lists. */
  readonly leavesQueues?: boolean;
  /** Names that the suite makes its lists of; those of a rule that knows only some. */
  readonly clientIds?: readonly string[];
  readonly brokers?: readonly string[];
}

/** Also ids that are no plain keys of an object. */
const anyClientIds = [
  '10.0.0.1@7#1',
  '10.0.0.2@DEFAULT',
  '::1@1',
  '__proto__',
  'a',
  'constructor',
  '主机@😀',
  '10.0.0.10@2',
];

/** Checks an allocation plugin against the contract: five lines in the author's own tests call it. */
export function allocationConformance(
  plugin: AllocationPlugin,
  cases: AllocationCases,
  { describe, it }: TestRunner,
): void {
  const suite = new Suite(plugin, cases);

  describe(`allocation rule ${plugin.name}`, () => {
    it('has the shape of an allocation plugin', () => suite.checkShape());

    for (const { queues, shares } of cases.expected) {
      const clients = Object.keys(shares).sort();
      it(`shares ${queues.length} queues out among ${clients.length} clients as expected`, () => {
        const numbers = clients.map((id) => suite.ask(id, queues, clients).map((queue) => queues.indexOf(queue)));
        assert.deepEqual(Object.fromEntries(clients.map((id, at) => [id, numbers[at]])), { ...shares });
      });
    }

    it('gives no queue to two clients, and none that is not there', () => {
      for (const [queues, clients] of suite.lists()) suite.checkOwners(queues, clients);
    });

    it('gives the same answer to the same question, in any order and from any instance', () => {
      const answers = (ids: readonly string[], from: Suite): string[] =>
        [...from.lists()].flatMap(([queues, clients]) =>
          ids
            .filter((id) => clients.includes(id))
            .map((id) => `${id}: ${from.ask(id, queues, clients).map(queueName).join()}`),
        );
      const first = answers(suite.clientIds, suite).sort();
      assert.deepEqual(answers([...suite.clientIds].reverse(), suite).sort(), first);
      assert.deepEqual(answers(suite.clientIds, new Suite(plugin, cases)).sort(), first);
    });

    if (typeof cases.options !== 'function')
      it('gives nothing to a client that the group does not list', () => {
        const [absent, ...present] = suite.clientIds;
        assert.deepEqual(suite.ask(absent!, suite.queues(8), present), []);
      });

    it(`answers within ${answerMsMax} ms for a thousand queues`, () => {
      const queues = suite.queues(1000);
      fast('allocate', () => suite.ask(suite.clientIds[0]!, queues, suite.clientIds));
    });
  });
}

type Lists = readonly [queues: readonly MessageQueue[], clientIds: readonly string[]];

class Suite {
  readonly clientIds: readonly string[];
  readonly #brokers: readonly string[];
  readonly #rules = new Map<string, AllocationRule>();

  constructor(
    readonly plugin: AllocationPlugin,
    readonly cases: AllocationCases,
  ) {
    this.clientIds = [...(cases.clientIds ?? anyClientIds)].sort();
    this.#brokers = [...(cases.brokers ?? ['broker-a', 'broker-b', '__proto__'])].sort();
  }

  checkShape(): void {
    const { name, kind } = defineAllocation(this.plugin.name, (options) => this.plugin.create(options));
    assert.deepEqual([this.plugin.name, this.plugin.kind], [name, kind]);
    for (const id of this.clientIds)
      assert.equal(this.#rule(id).name, this.#create(id).name, 'the name stays the same');
  }

  /** As the consumer asks; the lists cannot be changed. */
  ask(clientId: string, queues: readonly MessageQueue[], clientIds: readonly string[]): MessageQueue[] {
    const frozen = Object.freeze([...queues].map((queue) => Object.freeze(queue)));
    const share = this.#rule(clientId).allocate('group', clientId, frozen, Object.freeze([...clientIds]));
    assert.ok(Array.isArray(share), 'allocate must return an array of queues');
    const names = share.map(queueName);
    assert.equal(new Set(names).size, names.length, `${clientId} gets a queue twice: ${names.join()}`);
    const known = new Map(queues.map((queue) => [queueName(queue), queue]));
    return names.map((name) => {
      const queue = known.get(name);
      assert.ok(queue !== undefined, `${clientId} gets ${name}, which is not among the queues`);
      return queue;
    });
  }

  checkOwners(queues: readonly MessageQueue[], clientIds: readonly string[]): void {
    const taken = clientIds.flatMap((id) => this.ask(id, queues, clientIds).map(queueName));
    const what = `${queues.length} queues among ${clientIds.join()}`;
    const twice = taken.filter((name, at) => taken.indexOf(name) !== at);
    assert.deepEqual(twice, [], `two owners, ${what}`);
    if (this.cases.leavesQueues === true) return;
    const left = queues.map(queueName).filter((name) => !taken.includes(name));
    assert.deepEqual(left, [], `no owner, ${what}`);
  }

  /** Groups of every size, with few and many queues. */
  *lists(): Generator<Lists> {
    for (let size = 1; size <= this.clientIds.length; size++)
      for (const count of [1, 2, 3, 7, 8, 16, 33])
        for (const ids of [this.clientIds.slice(0, size), this.clientIds.slice(-size)]) yield [this.queues(count), ids];
  }

  /** So many in all, evenly over the brokers. */
  queues(count: number): MessageQueue[] {
    const each = Math.ceil(count / this.#brokers.length);
    return this.#brokers
      .flatMap((brokerName) => Array.from({ length: each }, (_, queueId) => ({ topic: 'topic', brokerName, queueId })))
      .slice(0, count);
  }

  #rule(clientId: string): AllocationRule {
    const key = typeof this.cases.options === 'function' ? clientId : '';
    let rule = this.#rules.get(key);
    if (rule === undefined) this.#rules.set(key, (rule = this.#create(clientId)));
    return rule;
  }

  #create(clientId: string): AllocationRule {
    const { options = '' } = this.cases;
    return this.plugin.create(typeof options === 'function' ? options(clientId) : options);
  }
}
