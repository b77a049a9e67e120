/**
 * VIEW_BROKER_STATS_DATA (315), admin->broker.
 *
 *   request (4.9: ViewBrokerStatsDataRequestHeader)
 *     statsName  string   required
 *     statsKey   string   required
 *   response body: BrokerStatsData JSON
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('ViewBrokerStatsDataRequestHeader', {
  statsName: string,
  statsKey: string,
});

export type ViewBrokerStatsDataRequestHeader = HeaderOf<typeof request>;
export const decodeViewBrokerStatsData = request.decode;
export const encodeViewBrokerStatsData = request.encode;
