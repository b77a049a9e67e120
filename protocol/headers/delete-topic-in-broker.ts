/**
 * DELETE_TOPIC_IN_BROKER (215), admin->broker.
 *
 *   request (4.9: DeleteTopicRequestHeader)
 *     topic  string   required
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('DeleteTopicRequestHeader', {
  topic: string,
});

export type DeleteTopicInBrokerRequestHeader = HeaderOf<typeof request>;
export const decodeDeleteTopicInBroker = request.decode;
export const encodeDeleteTopicInBroker = request.encode;
