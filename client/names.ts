import { groupProblem, isSendForbidden, topicProblem } from '../protocol/message/names.js';
import { ClientError } from './errors.js';

const LETTERS = 'letters, digits and the characters % | - _ are allowed';

/** Throws ILLEGAL_ARGUMENT for a name that no topic can have. */
export function checkTopic(topic: string): void {
  const problem = topicProblem(topic);
  if (problem !== undefined)
    throw new ClientError('ILLEGAL_ARGUMENT', `topic ${JSON.stringify(topic)} is no topic name: ${problem}`, {
      remedy: `${LETTERS}, up to 127`,
    });
}

/** Throws ILLEGAL_ARGUMENT for a name that no topic can have, and for topics of the system. */
export function checkSendTopic(topic: string): void {
  checkTopic(topic);
  if (isSendForbidden(topic))
    throw new ClientError('ILLEGAL_ARGUMENT', `topic ${topic} belongs to the brokers; clients may not send to it`);
}

/** The name that 4.9's clients have when nobody chose one: two applications with it would disturb each other. */
const UNCHOSEN = new Set(['DEFAULT_PRODUCER', 'DEFAULT_CONSUMER']);

/** Throws ILLEGAL_ARGUMENT for a name that no group can have. */
export function checkGroup(group: string): void {
  const problem = groupProblem(group);
  if (problem !== undefined)
    throw new ClientError('ILLEGAL_ARGUMENT', `group ${JSON.stringify(group)} is no group name: ${problem}`, {
      remedy: `${LETTERS}, up to 120`,
    });
  if (UNCHOSEN.has(group))
    throw new ClientError('ILLEGAL_ARGUMENT', `group ${group} is what nobody chose`, {
      remedy: 'name the group after your application',
    });
}
