import { encodeFrame, type Frame } from './frames.js';
import type { PullShape } from './pull-frames.js';

const HEART_BEAT = 34;

/** The heartbeat of a member of the group that subscribes to these topics; always of the same version, so that nothing changes. */
export function joinFrame({ form, group, filter }: PullShape, topics: Iterable<string>, client: number): Frame {
  const subscriptionDataSet = [...new Set(topics)].map((topic) => ({
    classFilterMode: false,
    codeSet: [],
    expressionType: filter.type,
    subString: filter.expression,
    subVersion: 1,
    tagsSet: [],
    topic,
  }));
  const member = {
    consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
    consumeType: 'CONSUME_PASSIVELY',
    groupName: group,
    messageModel: 'CLUSTERING',
    subscriptionDataSet,
    unitMode: false,
  };
  const body = { clientID: `kernel-bench@${process.pid}-${client}`, consumerDataSet: [member], producerDataSet: [] };
  return encodeFrame(form, HEART_BEAT, {}, Buffer.from(JSON.stringify(body)));
}
