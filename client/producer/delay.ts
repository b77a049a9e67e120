import { ResponseCode } from '../../protocol/codes.js';
import { PropertyName } from '../../protocol/message/properties.js';
import { ClientError } from '../errors.js';
import type { OutgoingMessage } from '../message.js';

/** The error for a message that this client refuses; it carries the code the broker would have answered. */
export function illegal(topic: string, problem: string, remedy?: string): ClientError {
  const text = `message for topic ${topic}: ${problem}`;
  const responseCode = ResponseCode.MESSAGE_ILLEGAL;
  return new ClientError('ILLEGAL_MESSAGE', text, remedy === undefined ? { responseCode } : { responseCode, remedy });
}

/** The property that delays the message; undefined when it is not delayed. Throws ILLEGAL_MESSAGE for a time that is none. */
export function delayProperty(message: OutgoingMessage): [name: string, value: string] | undefined {
  const { topic, delayLevel, deliverAt, delayMs } = message;
  const given = Object.entries({ delayLevel, deliverAt, delayMs }).filter(([, value]) => value !== undefined);
  if (given.length > 1)
    throw illegal(topic, `${given.map(([name]) => name).join(' and ')} are two delays`, 'give one of them');
  if (delayLevel !== undefined)
    return [PropertyName.DELAY_TIME_LEVEL, whole(topic, 'delayLevel', delayLevel, 1, LEVEL_MAX)];
  if (delayMs !== undefined)
    return [PropertyName.TIMER_DELAY_MS, whole(topic, 'delayMs', delayMs, 0, Number.MAX_SAFE_INTEGER)];
  if (deliverAt === undefined) return undefined;
  const atMs = Number(deliverAt);
  return [PropertyName.TIMER_DELIVER_MS, whole(topic, 'deliverAt', atMs, 1, Number.MAX_SAFE_INTEGER)];
}

/** Java reads the level as an int. */
const LEVEL_MAX = 2 ** 31 - 1;

function whole(topic: string, name: string, value: number, min: number, max: number): string {
  if (!Number.isInteger(value) || value < min || value > max)
    throw illegal(topic, `${name} is ${value}`, `give a whole number from ${min} on`);
  return String(value);
}
