import { defineAllocation, type MessageQueue } from '../contract.js';
import { configRule } from './rule.js';

/** More than any topic has; a slip of the finger must not fill the memory. */
const QUEUES_MAX = 65_536;

/** `config:TOPIC/BROKER/0-3,TOPIC/BROKER/5` */
export default defineAllocation('config', (options) => configRule(options.split(',').flatMap(queuesOf)));

function queuesOf(text: string): MessageQueue[] {
  const [, topic, brokerName, first, last] = /^([^/]+)\/(.+)\/(\d+)(?:-(\d+))?$/.exec(text.trim()) ?? [];
  if (topic === undefined || brokerName === undefined)
    throw new RangeError(
      `"${text}" is no queue: write TOPIC/BROKER/NUMBER or TOPIC/BROKER/FIRST-LAST, with commas between`,
    );
  const from = Number(first);
  const count = Number(last ?? first) - from + 1;
  if (count < 1 || from + count > QUEUES_MAX)
    throw new RangeError(`"${text}" is no range of queues within 0 … ${QUEUES_MAX - 1}`);
  return Array.from({ length: count }, (_, at) => ({ topic, brokerName, queueId: from + at }));
}
