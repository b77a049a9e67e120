import type { AllocationRule, MessageQueue } from '../../plugins/allocation/contract.js';
import { averagelyRule } from '../../plugins/allocation/averagely/rule.js';
import { circleRule } from '../../plugins/allocation/circle/rule.js';
import { configRule } from '../../plugins/allocation/config/rule.js';
import { consistentHashRule } from '../../plugins/allocation/consistent-hash/rule.js';
import { machineRoomNearbyRule } from '../../plugins/allocation/machine-room-nearby/rule.js';
import { machineRoomRule } from '../../plugins/allocation/machine-room/rule.js';
import { SeededRandom } from '../support/seeded-random.js';
import type { Strategy } from './support/driver.js';

/** A queue as mqk.AllocateOracle reads and writes it. */
export type QueueRow = readonly [topic: string, brokerName: string, queueId: number];

export interface AllocationCase {
  readonly strategy: Strategy;
  readonly rule: AllocationRule;
  readonly clientId: string;
  readonly queues: readonly MessageQueue[];
  readonly clientIds: readonly string[];
}

export const ruleNames = ['averagely', 'circle', 'config', 'machine-room', 'machine-room-nearby', 'consistent-hash'];

const topics = ['T', 'T', 'Order', '%RETRY%group', '主题'];
// prettier-ignore
const brokers = [
  'broker-a', 'broker-b', 'east-1', 'east-2', 'west-1', 'north-1', 'x', '', '-', '主机-甲', '😀-1',
  'east@1', 'east@2', 'west@1', 'east@', '@1', '@', '@@', 'east@1@', 'east@1@2', 'west@@', 'north@主', '东@1',
];
const fitting: Readonly<Record<string, readonly string[]>> = {
  'machine-room': brokers.filter((name) => name.indexOf('@') > 0),
  'machine-room-nearby': brokers.filter((name) => name.indexOf('-') > 0),
};

/** Seeded questions: mostly what a group asks, also lists out of order, ids that come twice, and empty lists. */
export class AllocationGenerator {
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  next(name: string): AllocationCase {
    // Names without a room leave little to share out, and nearby refuses them: some are enough.
    const names = this.#random.chance(0.8) ? (fitting[name] ?? brokers) : brokers;
    const queues = this.#queues(names);
    const clientIds = this.#clientIds(name === 'machine-room-nearby' ? names : undefined);
    const [strategy, rule] = this.#rule(name, queues);
    return { strategy, rule, queues, clientIds, clientId: this.#asking(clientIds) };
  }

  #queues(names: readonly string[]): MessageQueue[] {
    if (this.#random.chance(0.02)) return [];
    const topic = this.#pick(topics);
    const used = new Set(Array.from({ length: 1 + this.#random.below(4) }, () => this.#pick(names)));
    const queues = [...used].sort().flatMap((brokerName) => {
      const count = 1 + this.#random.below(this.#random.chance(0.1) ? 100 : 12);
      return Array.from({ length: count }, (_, queueId) => ({ topic, brokerName, queueId }));
    });
    return this.#random.chance(0.1) ? this.#shuffled(queues) : queues;
  }

  #clientIds(prefixes: readonly string[] = ['10.0.0.', '客户-', '::1@']): string[] {
    if (this.#random.chance(0.02)) return [];
    const count = 1 + this.#random.below(this.#random.chance(0.1) ? 60 : 8);
    const ids = Array.from(
      { length: count },
      () => `${this.#pick(prefixes)}${this.#random.below(60)}@${this.#random.below(9)}`,
    );
    const distinct = this.#random.chance(0.9) ? [...new Set(ids)] : ids;
    return this.#random.chance(0.9) ? distinct.sort() : distinct;
  }

  #asking(clientIds: readonly string[]): string {
    if (this.#random.chance(0.02)) return '';
    return clientIds.length === 0 || this.#random.chance(0.05) ? 'east-absent@1' : this.#pick(clientIds);
  }

  #rule(name: string, queues: readonly MessageQueue[]): readonly [Strategy, AllocationRule] {
    switch (name) {
      case 'config': {
        const own = this.#shuffled(queues).slice(0, this.#random.below(queues.length + 1));
        const foreign = { topic: 'other', brokerName: 'broker-a', queueId: 0 };
        const given = this.#random.chance(0.2) ? [foreign, ...own] : own;
        return [{ rule: name, queues: given.map(rowOf) }, configRule(given)];
      }
      case 'machine-room': {
        const rooms = ['', 'east', 'west', '东', 'broker-a'].filter(() => this.#random.chance(0.6));
        return [{ rule: name, rooms }, machineRoomRule(rooms)];
      }
      case 'machine-room-nearby': {
        const [inner, rule] = this.#rule(
          this.#pick(['averagely', 'circle', 'consistent-hash', 'machine-room']),
          queues,
        );
        const rooms = { ofBroker: ({ brokerName }: MessageQueue) => roomOf(brokerName), ofClient: roomOf };
        return [{ rule: name, inner }, machineRoomNearbyRule(rooms, rule)];
      }
      case 'consistent-hash': {
        const virtualNodes = this.#pick([1, 2, 10, 10, 100]);
        return [{ rule: name, virtualNodes }, consistentHashRule(virtualNodes)];
      }
      default:
        return [{ rule: name }, name === 'circle' ? circleRule : averagelyRule];
    }
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random.below(list.length)]!;
  }

  #shuffled<T>(list: readonly T[]): T[] {
    return [...list]
      .map((item) => ({ item, at: this.#random.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  }
}

export function rowOf({ topic, brokerName, queueId }: MessageQueue): QueueRow {
  return [topic, brokerName, queueId];
}

/** As mqk.Allocations has it. */
function roomOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf('-')));
}
