/** Body of CHECK_CLIENT_CONFIG (46). 4.9: CheckClientRequestBody. */
import { readSubscription, subscriptionBean, type SubscriptionData } from './heartbeat.js';
import { writeJson } from './json-write.js';
import { bodyObject, text } from './shape.js';

export interface CheckClientRequestBody {
  readonly clientId: string;
  readonly group: string;
  readonly subscriptionData: SubscriptionData | undefined;
}

export function encodeCheckClientRequestBody({ clientId, group, subscriptionData }: CheckClientRequestBody): Buffer {
  return writeJson({
    clientId,
    group,
    subscriptionData: subscriptionData === undefined ? undefined : subscriptionBean(subscriptionData),
  });
}

export function decodeCheckClientRequestBody(body: string | Uint8Array): CheckClientRequestBody {
  const object = bodyObject(body, 'CheckClientRequestBody');
  const data = object['subscriptionData'];
  return {
    clientId: text(object, 'clientId', ''),
    group: text(object, 'group', ''),
    subscriptionData: data === undefined || data === null ? undefined : readSubscription(data),
  };
}
