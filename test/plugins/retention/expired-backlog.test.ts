import assert from 'node:assert/strict';
import { startBroker, type EmbeddedBroker } from '../../../cli/embedded.js';
import { PushConsumer } from '../../../client/index.js';
import { RequestCode } from '../../../protocol/codes.js';
import {
  decodeQueryConsumerOffsetResponse,
  encodeQueryConsumerOffset,
} from '../../../protocol/headers/query-consumer-offset.js';
import { encodeUpdateConsumerOffset } from '../../../protocol/headers/update-consumer-offset.js';
import { quick } from '../../client/support/quick.js';
import { fillTopic, hours, makeOld, queueSpan, smallFiles } from '../../support/old-store.js';
import { RawClient } from '../../support/raw-client.js';
import { pullAll } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { until } from '../../support/until.js';

const group = 'Late';
const place = { consumerGroup: group, topic: 'T', queueId: 0 };

async function committed(client: RawClient): Promise<number> {
  const { code, ext } = await client.ask(RequestCode.QUERY_CONSUMER_OFFSET, { ext: encodeQueryConsumerOffset(place) });
  assert.equal(code, 0);
  return decodeQueryConsumerOffsetResponse(ext).offset;
}

/** A broker whose group stands at 0 of topic T, while the files of the log before `keptFiles` ones are deleted. */
async function backlogGone(broker: EmbeddedBroker, client: RawClient, dir: string, others: number): Promise<number> {
  await fillTopic(client, 80);
  if (others > 0) await fillTopic(client, others, 'Other');
  await pullAll(client, 80);
  const ext = encodeUpdateConsumerOffset({ ...place, commitOffset: 0 });
  assert.equal((await client.ask(RequestCode.UPDATE_CONSUMER_OFFSET, { ext })).code, 0);
  makeOld(dir, Math.floor((80 + others) / 16));
  await client.ask(RequestCode.DELETE_EXPIRED_COMMITLOG);
  await until(async () => (await queueSpan(client))[0] > 0, 'the backlog is deleted');
  const [min, max] = await queueSpan(client);
  assert.equal(max, 80);
  assert.equal(broker.options.memory, false);
  return min;
}

describe('a group whose backlog was deleted (B16)', () => {
  for (const [name, others] of [
    ['goes on at the first message that is there', 0],
    ['stands at the end when nothing is there', 40],
  ] as const)
    it(`${name}, and the broker knows at once`, async () => {
      using dir = tempDir();
      const options = { ...smallFiles, deleteWhen: hours().never, logLevel: 'silent' as const };
      await using broker = await startBroker({ storeDir: dir.path, options });
      using client = await RawClient.connect(broker.brokerAddress);
      const min = await backlogGone(broker, client, dir.path, others);
      assert.ok(others > 0 ? min === 80 : min > 0 && min < 80, `the queue begins at ${min}`);
      const seen: number[] = [];
      const consumer = new PushConsumer({ namesrvAddr: broker.namesrvAddress, group, from: 'first', periods: quick });
      await consumer.subscribe('T');
      await consumer.start((batch) => {
        seen.push(...batch.map(({ queueOffset }) => queueOffset));
        return 'success';
      });
      try {
        await until(async () => (await committed(client)) === 80, 'the group stands at the end');
        const kept = Array.from({ length: 80 - min }, (_, index) => min + index);
        assert.deepEqual(
          seen.sort((a, b) => a - b),
          kept,
        );
      } finally {
        await consumer.stop();
      }
    });
});
