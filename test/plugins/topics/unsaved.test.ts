import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../../../config/options.js';
import { TopicTable } from '../../../plugins/topics/topic-table.js';
import { TopicsFile } from '../../../plugins/topics/topics-file.js';
import { defaultOptions } from '../../support/default-options.js';
import { FakeClock } from '../../support/fake-clock.js';
import { localPool } from '../../support/local-pool.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { tempDir } from '../../support/temp-dir.js';

function makeTable(changes: Partial<Options>): TopicTable {
  const options = defaultOptions(changes);
  const logger = recordingLogger();
  return new TopicTable(options, new FakeClock(), logger, new TopicsFile(options, localPool, logger));
}

const onDisk = (dir: string): TopicTable => makeTable({ storePathRootDir: dir, storePathCommitLog: join(dir, 'log') });

describe('plugins/topics: a topic that its file does not hold yet', () => {
  it('is unsaved until the write that brings it there', async () => {
    using dir = tempDir();
    const table = onDisk(dir.path);
    table.createOnSend('A', 'TBW102', 4, 'c', false);
    table.createInternal('%RETRY%G', 1, 6, 0);
    const writes = [table.unsaved('A'), table.unsaved('%RETRY%G')];
    assert.equal(table.unsaved('TBW102'), undefined);
    await Promise.all(writes);
    const file = readFileSync(join(dir.path, 'config', 'topics.json'), 'utf8');
    for (const name of ['A', '%RETRY%G']) {
      assert.ok(file.includes(`"topicName":"${name}"`), name);
      assert.equal(table.unsaved(name), undefined);
    }
  });

  it('stays so after a failed write, until a later one succeeds', async () => {
    using dir = tempDir();
    const folder = join(dir.path, 'config');
    writeFileSync(folder, 'a file where the folder should be');
    const table = onDisk(dir.path);
    table.createOnSend('A', 'TBW102', 4, 'c', false);
    await assert.rejects(async () => table.unsaved('A'), /topics\.json/);
    await assert.rejects(async () => table.unsaved('A'), /topics\.json/);
    rmSync(folder);
    await table.flush();
    assert.equal(table.unsaved('A'), undefined);
  });

  it('does not stay so in memory', async () => {
    const table = makeTable({ memory: true });
    table.createOnSend('A', 'TBW102', 4, 'c', false);
    await table.unsaved('A');
    assert.equal(table.unsaved('A'), undefined);
  });
});
