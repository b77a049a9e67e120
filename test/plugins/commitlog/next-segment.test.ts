import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Watermark, Watermarks } from '../../../kernel/ring/watermarks.js';
import type { Options } from '../../../kernel/tokens.js';
import type { StoreState } from '../../../plugins/commitlog/contract.js';
import { NextSegment } from '../../../plugins/commitlog/next-segment.js';
import { nodeFiles } from '../../../store/files/node-files.js';
import { defaultOptions } from '../../support/default-options.js';
import { localPool } from '../../support/local-pool.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { tempDir } from '../../support/temp-dir.js';

const SEGMENT = 1 << 20;

function setUp(root: string, changes: Partial<Options> = {}) {
  const log = { dir: join(root, 'commitlog'), temporaryDir: join(root, '.tmp'), segmentBytes: SEGMENT };
  for (const dir of [log.dir, log.temporaryDir]) mkdirSync(dir, { recursive: true });
  const watermarks = new Watermarks(Watermarks.allocate());
  const state = { inMemory: false, files: nodeFiles, log, watermarks } as unknown as StoreState;
  const logger = recordingLogger();
  const next = new NextSegment(state, localPool, defaultOptions(changes), logger);
  return { next, watermarks, log, logger, waiting: () => readdirSync(log.temporaryDir) };
}

describe('the next segment', () => {
  it('is made complete once the present one is half full, and only once', async () => {
    using dir = tempDir();
    const { next, watermarks, log, waiting } = setUp(dir.path);
    watermarks.reset(Watermark.appended, 3 * SEGMENT + SEGMENT / 2 - 1);
    assert.equal(next.look(), undefined);
    watermarks.advance(Watermark.appended, 3 * SEGMENT + SEGMENT / 2);
    await next.look();
    assert.deepEqual(waiting(), [`next-${String(4 * SEGMENT).padStart(20, '0')}`]);
    assert.equal(watermarks.get(Watermark.ready), 4 * SEGMENT);
    const { size, blocks } = statSync(join(log.temporaryDir, waiting()[0]));
    assert.deepEqual([size, blocks], [SEGMENT, 0]);
    assert.equal(next.look(), undefined);
    await next.stop();
    assert.deepEqual(waiting(), []);
  });

  it('takes its room on the disk when it is to be warm', async () => {
    using dir = tempDir();
    const changes = { warmMapedFileEnable: true, flushLeastPagesWhenWarmMapedFile: 16 };
    const { next, watermarks, log, waiting } = setUp(dir.path, changes);
    watermarks.reset(Watermark.appended, SEGMENT - 1);
    await next.look();
    const path = join(log.temporaryDir, waiting()[0]);
    assert.ok(statSync(path).blocks * 512 >= SEGMENT);
    assert.ok(readFileSync(path).equals(Buffer.alloc(SEGMENT)));
  });

  it('that nobody moved in goes when the one after it is made', async () => {
    using dir = tempDir();
    const { next, watermarks, waiting } = setUp(dir.path);
    for (const end of [SEGMENT - 1, 2 * SEGMENT - 1]) {
      watermarks.advance(Watermark.appended, end);
      await next.look();
    }
    assert.deepEqual(waiting(), [`next-${String(2 * SEGMENT).padStart(20, '0')}`]);
  });

  it('that cannot be made is told once and left to the writer', async () => {
    using dir = tempDir();
    const { next, watermarks, log, logger } = setUp(dir.path);
    writeFileSync(join(dir.path, 'file'), '');
    Object.assign(log, { temporaryDir: join(dir.path, 'file') });
    watermarks.reset(Watermark.appended, SEGMENT - 1);
    await next.look();
    assert.equal(next.look(), undefined);
    assert.equal(watermarks.get(Watermark.ready), 0);
    assert.equal(logger.lines.length, 1);
  });
});
