import assert from 'node:assert/strict';
import { loadTopology } from '../../../config/topology.js';
import { pullAll } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker } from '../../support/test-broker.js';
import { COMMIT, end, ended, halfOf, ROLLBACK, sendHalf } from '../../support/transactions.js';

const COUNT = 120;

describe('transactions on real threads', () => {
  for (const name of ['dedicated', 'fused', 'paired'])
    it(`end each once in topology ${name}`, async () => {
      using dir = tempDir();
      const topology = loadTopology({ topology: name, memory: false });
      const options = {
        storePathRootDir: dir.path,
        mappedFileSizeCommitLog: 1 << 20,
        flushDiskType: 'SYNC_FLUSH',
      } as const;
      await using broker = await testBroker({ topology, options });
      using client = await broker.connect();
      const one = async (i: number): Promise<void> => {
        const half = halfOf(await sendHalf(client, { body: Buffer.from(`m${i}`) }));
        const type = i % 4 === 3 ? ROLLBACK : COMMIT;
        const answers = await Promise.all([end(client, half, type), end(client, half, type)]);
        assert.deepEqual(
          answers.map(({ code }) => code),
          [0, 0],
        );
      };
      await Promise.all(Array.from({ length: COUNT }, (_, i) => one(i)));
      const messages = await pullAll(client, (COUNT * 3) / 4);
      assert.deepEqual(
        messages.map(({ body }) => body.toString()).sort(),
        Array.from({ length: COUNT }, (_, i) => `m${i}`)
          .filter((_, i) => i % 4 !== 3)
          .sort(),
      );
      assert.deepEqual(
        (await ended(broker)).sort((a, b) => a - b),
        Array.from({ length: COUNT }, (_, i) => i),
      );
    });
});
