import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadTopology } from '../../../config/topology.js';
import { decodeDelayOffsetTable } from '../../../protocol/bodies/consumer-offset.js';
import { RequestCode } from '../../../protocol/codes.js';
import { parseProperties } from '../../../protocol/message/properties.js';
import type { StoredMessage } from '../../../protocol/message/record.js';
import type { RawClient } from '../../support/raw-client.js';
import { propertyText, pull, pullAll, send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const LEVELS = { messageDelayLevel: '0s 1s', mappedFileSizeCommitLog: 1 << 20 };

async function sendDelayed(client: RawClient, level: number, body: string, topic = 'T'): Promise<void> {
  const properties = propertyText({ DELAY: String(level), UNIQ_KEY: body });
  const { code } = await send(client, { topic, body: Buffer.from(body), properties });
  assert.equal(code, 0);
}

const bodiesOf = (messages: readonly StoredMessage[]): string[] => messages.map(({ body }) => body.toString());

/** How far the levels are, as slaves ask for it. */
async function offsets(client: RawClient): Promise<ReadonlyMap<number, number>> {
  const { body } = await client.ask(RequestCode.GET_ALL_DELAY_OFFSET);
  return decodeDelayOffsetTable(body);
}

for (const topology of ['dedicated', 'fused', 'paired', 'memory']) {
  describe(`delayed messages, ${topology}`, () => {
    const memory = topology === 'memory';
    const dir = tempDir();
    const options = { ...LEVELS, ...(memory ? {} : { storePathRootDir: dir.path }) };
    const wishes = { options, topology: loadTopology({ topology, memory }) };

    after(() => dir[Symbol.dispose]());

    it('are delivered after the delay of their level, or of the highest', async () => {
      await using broker = await testBroker(wishes);
      using client = await broker.connect();
      await sendDelayed(client, 2, 'second');
      await sendDelayed(client, 99, 'highest');
      await sendDelayed(client, 1, 'first');
      const messages = await pullAll(client, 3);
      const delivered = new Map(messages.map((message) => [message.body.toString(), message]));
      assert.deepEqual([...delivered.keys()].sort(), ['first', 'highest', 'second']);
      const highest = parseProperties(delivered.get('highest')!.properties);
      assert.deepEqual([highest.get('DELAY'), highest.get('REAL_TOPIC'), highest.get('REAL_QID')], ['2', 'T', '0']);
      const waited = [
        ...(await pullAll(client, 1, { topic: 'SCHEDULE_TOPIC_XXXX', queueId: 0 })),
        ...(await pullAll(client, 2, { topic: 'SCHEDULE_TOPIC_XXXX', queueId: 1 })),
      ];
      for (const { body, queueId, storeTimestamp } of waited)
        assert.ok(
          delivered.get(body.toString())!.storeTimestamp >= storeTimestamp + queueId * 1000,
          `${body.toString()} came before its time`,
        );
      assert.deepEqual(
        [...(await offsets(client))],
        [
          [1, 1],
          [2, 2],
        ],
      );
    });

    if (topology !== 'dedicated') return;
    it('are delivered once, over a restart and queues that are built again', async () => {
      const first = await testBroker(wishes);
      {
        using client = await first.connect();
        for (let i = 0; i < 300; i++) await sendDelayed(client, 1, `m${i}`, 'Once');
        await pullAll(client, 300, { topic: 'Once' });
        await sendDelayed(client, 2, 'waits', 'Once');
      }
      await first.stop();
      for (const folder of ['consumequeue', 'index']) rmSync(join(dir.path, folder), { recursive: true });
      await using second = await testBroker(wishes);
      using client = await second.connect();
      const messages = await pullAll(client, 301, { topic: 'Once' });
      assert.deepEqual(bodiesOf(messages).slice(-2), ['m299', 'waits']);
      await until(async () => (await offsets(client)).get(2) === 3, 'it is counted');
      const { header } = await pull(client, { topic: 'Once', queueOffset: 301 });
      assert.equal(header.maxOffset, 301);
      assert.equal((await offsets(client)).get(1), 301);
    });
  });
}
