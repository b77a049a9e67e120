/** Body of VIEW_BROKER_STATS_DATA (315). 4.9: BrokerStatsData. */
import type { JsonObject } from './json.js';
import { JavaDouble, writeJson, type WritableBean } from './json-write.js';
import { asObject, bodyObject, real, whole } from './shape.js';

export interface BrokerStatsItem {
  readonly sum: number;
  readonly tps: number;
  /** Average per call. */
  readonly avgpt: number;
}

export interface BrokerStatsData {
  readonly statsMinute: BrokerStatsItem;
  readonly statsHour: BrokerStatsItem;
  readonly statsDay: BrokerStatsItem;
}

function itemBean({ sum, tps, avgpt }: BrokerStatsItem): WritableBean {
  return { sum, tps: new JavaDouble(tps), avgpt: new JavaDouble(avgpt) };
}

function readItem(object: JsonObject, name: string): BrokerStatsItem {
  const item = asObject(object[name], name);
  return { sum: whole(item, 'sum', 0), tps: real(item, 'tps', 0), avgpt: real(item, 'avgpt', 0) };
}

export function encodeBrokerStatsData({ statsMinute, statsHour, statsDay }: BrokerStatsData): Buffer {
  return writeJson({
    statsMinute: itemBean(statsMinute),
    statsHour: itemBean(statsHour),
    statsDay: itemBean(statsDay),
  });
}

export function decodeBrokerStatsData(body: string | Uint8Array): BrokerStatsData {
  const object = bodyObject(body, 'BrokerStatsData');
  return {
    statsMinute: readItem(object, 'statsMinute'),
    statsHour: readItem(object, 'statsHour'),
    statsDay: readItem(object, 'statsDay'),
  };
}
