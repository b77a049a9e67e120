import { setMaxListeners } from 'node:events';
import { PushConsumer, type ConsumerPeriods } from '../../../client/index.js';
import { pause } from '../../../client/consumer/pause.js';
import { Notes } from './deliveries.js';

/** How a member of the two groups consumes; `MemberProcess` is its other end. */
export interface MemberSettings {
  readonly namesrvAddr: string;
  readonly topic: string;
  /** Takes what is delivered. */
  readonly file: string;
  readonly orderedGroup: string;
  readonly sharedGroup: string;
  readonly periods: ConsumerPeriods;
  /** A listener takes so long. */
  readonly workMs: number;
  /** Share of first attempts of ordered messages that fail. */
  readonly failing: number;
}

const settings = JSON.parse(process.argv[2]!) as MemberSettings;
const notes = new Notes(settings.file);
const never = new AbortController().signal;
setMaxListeners(0, never);

/** A member of both groups: SIGTERM lets it leave in good order. */
const ordered = await member(settings.orderedGroup, true);
const shared = await member(settings.sharedGroup, false);
process.once('SIGTERM', () => {
  void Promise.all([ordered.stop(), shared.stop()]).then(() => process.exit(0));
});
process.once('disconnect', () => process.exit(1));
process.send?.('joined');

async function member(group: string, orderly: boolean): Promise<PushConsumer> {
  const { namesrvAddr, topic, periods } = settings;
  const lost = (fields: object, text?: string): void => {
    if (text === 'lock of a queue lost') {
      const { queue } = fields as { queue: { topic: string; queueId: number } };
      if (queue.topic === topic) notes.write(group, 'lost', queue.queueId, 0);
    }
  };
  const logger = { debug: ignore, info: ignore, warn: lost, error: ignore } as never;
  const options = { namesrvAddr, group, orderly, from: 'first' as const, suspendCurrentQueueMs: 10, periods, logger };
  const consumer = new PushConsumer(options);
  await consumer.subscribe(topic);
  await consumer.start(async ([message]) => {
    const { queueId, queueOffset, reconsumeTimes } = message!;
    notes.write(group, 'begin', queueId, queueOffset);
    await pause(settings.workMs, never);
    const fails = orderly && reconsumeTimes === 0 && Math.random() < settings.failing;
    notes.write(group, fails ? 'later' : 'done', queueId, queueOffset);
    return fails ? 'later' : 'success';
  });
  return consumer;
}

function ignore(): void {
  return;
}
