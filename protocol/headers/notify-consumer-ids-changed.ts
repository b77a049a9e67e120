/**
 * NOTIFY_CONSUMER_IDS_CHANGED (40), broker->client (oneway).
 *
 *   request (4.9: NotifyConsumerIdsChangedRequestHeader)
 *     consumerGroup  string   required
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('NotifyConsumerIdsChangedRequestHeader', {
  consumerGroup: string,
});

export type NotifyConsumerIdsChangedRequestHeader = HeaderOf<typeof request>;
export const decodeNotifyConsumerIdsChanged = request.decode;
export const encodeNotifyConsumerIdsChanged = request.encode;
