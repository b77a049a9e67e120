import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FileOffsetStore } from '../../client/consumer/file-offset-store.js';
import { OffsetTable } from '../../client/consumer/offset-store.js';
import { queueKey } from '../../client/transport/message-queue.js';
import { silentLogger } from '../../kernel/base/logger.js';

const q0 = { topic: 'T', brokerName: 'b', queueId: 0 };
const q1 = { topic: 'T', brokerName: 'b', queueId: 1 };

describe('client offsets', () => {
  it('only grow when told so', () => {
    const table = new OffsetTable(queueKey);
    table.set(q0, 10, true);
    table.set(q0, 5, true);
    assert.equal(table.get(q0), 10);
    table.set(q0, 12, true);
    assert.equal(table.get(q0), 12);
    table.set(q0, 3, false);
    assert.equal(table.get(q0), 3);
    assert.equal(table.get(q1), undefined);
    table.delete(q0);
    assert.equal(table.get(q0), undefined);
  });
});

describe('FileOffsetStore', () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'offsets-'));
    file = path.join(folder, 'client', 'group', 'offsets.json');
  });

  afterEach(() => rm(folder, { recursive: true }));

  const opened = async (): Promise<FileOffsetStore> => {
    const store = new FileOffsetStore(file, silentLogger);
    await store.load();
    return store;
  };

  it('keeps offsets over a restart, in the form that Java writes', async () => {
    const store = await opened();
    assert.equal(await store.read(q0), undefined);
    store.update(q0, 12, true);
    store.update(q1, 9_007_199_254_740_991, true);
    await store.commit();
    const text = await readFile(file, 'utf8');
    assert.equal(
      text,
      '{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:12,{"brokerName":"b","queueId":1,"topic":"T"}:9007199254740991}}',
    );
    const again = await opened();
    assert.equal(await again.read(q0), 12);
    assert.equal(await again.read(q1), 9_007_199_254_740_991);
  });

  it('reads what Java wrote', async () => {
    const store = await opened();
    store.update(q0, 1, true);
    await store.commit();
    // fastjson's pretty form of LocalFileOffsetStore#persistAll
    await writeFile(
      file,
      '{\n\t"offsetTable":{{\n\t\t\t"brokerName":"b",\n\t\t\t"queueId":1,\n\t\t\t"topic":"T"\n\t\t}:77\n\t}\n}',
    );
    assert.equal(await (await opened()).read(q1), 77);
  });

  it('falls back to the backup when the file is empty or broken', async () => {
    const store = await opened();
    store.update(q0, 1, true);
    await store.commit();
    store.update(q0, 2, true);
    await store.commit();
    for (const damage of ['', '{"offsetTable":{{"brokerName"']) {
      await writeFile(file, damage);
      assert.equal(await (await opened()).read(q0), 1, JSON.stringify(damage));
    }
    await rm(file);
    assert.equal(await (await opened()).read(q0), 1);
  });

  it('refuses to begin anew when neither can be read', async () => {
    const store = await opened();
    store.update(q0, 1, true);
    await store.commit();
    await writeFile(file, '{broken');
    await assert.rejects(opened(), /offsets in .*offsets\.json cannot be read/);
    await writeFile(`${file}.bak`, '[]');
    await assert.rejects(opened(), /cannot be read/);
  });

  it('writes one file at a time, the last offsets last', async () => {
    const store = await opened();
    const saves = Array.from({ length: 20 }, (_, offset) => {
      store.update(q0, offset, true);
      return store.commit();
    });
    await Promise.all(saves);
    assert.equal(await (await opened()).read(q0), 19);
  });
});
