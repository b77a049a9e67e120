import assert from 'node:assert/strict';
import { join } from 'node:path';
import { loadTopology } from '../../../config/topology.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { MessageIndex } from '../../../plugins/reput/contract.js';
import { decodeRecords } from '../../../protocol/message/record.js';
import { nodeFiles } from '../../../store/files/node-files.js';
import { listIndexFiles } from '../../../store/index/index-folder.js';
import { send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const MESSAGES = 300;

describe('index queries beside the thread that builds the index', () => {
  it('are right at every moment, while files roll all the time', async function () {
    this.timeout(60_000);
    using dir = tempDir();
    const sizes = { mappedFileSizeCommitLog: 1 << 20, maxHashSlotNum: 3, maxIndexNum: 12, indexSyncIntervalMs: 10 };
    const topology = loadTopology({ topology: 'dedicated', memory: false });
    await using broker = await testBroker({ options: { ...sizes, storePathRootDir: dir.path }, topology });
    using client = await broker.connect();
    const index = broker.get(MessageIndex);
    const { watermarks } = broker.get(StoreState);
    const offsets: number[] = [];
    let over = false;

    async function ask(first: number): Promise<number> {
      let asked = 0;
      for (let number = first; !over; number++) {
        // What lay below the cursor before the question must be found.
        const indexed = watermarks.get(Watermark.indexed);
        const there = offsets.filter((offset) => offset < indexed).length;
        if (there === 0) {
          await new Promise((resolve) => setImmediate(resolve));
          continue;
        }
        const wanted = number % there;
        const query = { topic: 'T', maxNum: 4, beginMs: 0, endMs: Infinity };
        const one = decodeRecords(Buffer.from((await index.query({ ...query, key: `k${wanted}` })).records));
        assert.deepEqual(
          one.map(({ physicalOffset }) => physicalOffset),
          [offsets[wanted]],
          `k${wanted} of ${there}`,
        );
        const all = decodeRecords(Buffer.from((await index.query({ ...query, key: 'all' })).records));
        const places = all.map(({ physicalOffset }) => physicalOffset);
        assert.deepEqual(
          places,
          [...new Set(places)].sort((a, b) => a - b),
        );
        assert.ok(all.length === 4 || all.length >= there, `${all.length} of ${there}`);
        asked++;
      }
      return asked;
    }

    const asking = [ask(0), ask(MESSAGES / 2)];
    for (let i = 0; i < MESSAGES; i++) {
      const { header } = await send(client, { properties: `KEYS\u0001k${i} all\u0002` });
      offsets.push(Number(Buffer.from(header.msgId, 'hex').readBigInt64BE(8)));
    }
    const done = (): boolean => watermarks.get(Watermark.indexed) === watermarks.get(Watermark.appended);
    await until(done, 'everything is indexed', 30_000);
    over = true;
    const asked = await Promise.all(asking);
    assert.ok(Math.min(...asked) > 3, `${asked.join()}`);
    assert.ok(listIndexFiles(nodeFiles, join(dir.path, 'index')).length > 50);
  });
});
