/** Body of GET_TOPIC_STATS_INFO (202). 4.9: TopicStatsTable. */
import { writeJson } from './json-write.js';
import { queueTableMap, readQueueTable, type QueueTable } from './message-queue.js';
import { asObject, bodyObject, whole } from './shape.js';

export interface TopicOffset {
  readonly minOffset: number;
  readonly maxOffset: number;
  /** Store time of the newest message in milliseconds; 0 for an empty queue. */
  readonly lastUpdateTimestamp: number;
}

export interface TopicStatsTable {
  readonly offsetTable: QueueTable<TopicOffset>;
}

export function encodeTopicStatsTable(stats: TopicStatsTable): Buffer {
  return writeJson({
    offsetTable: queueTableMap(stats.offsetTable, ({ minOffset, maxOffset, lastUpdateTimestamp }) => ({
      minOffset,
      maxOffset,
      lastUpdateTimestamp,
    })),
  });
}

export function decodeTopicStatsTable(body: string | Uint8Array): TopicStatsTable {
  return {
    offsetTable: readQueueTable(bodyObject(body, 'TopicStatsTable')['offsetTable'], 'offsetTable', (value) => {
      const object = asObject(value, 'topic offset');
      return {
        minOffset: whole(object, 'minOffset', 0),
        maxOffset: whole(object, 'maxOffset', 0),
        lastUpdateTimestamp: whole(object, 'lastUpdateTimestamp', 0),
      };
    }),
  };
}
