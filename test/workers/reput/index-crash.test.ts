import assert from 'node:assert/strict';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { QueueWord } from '../../../kernel/ring/queue-table.js';
import { markEnded, markRunning, readCheckpoint, wasAborted } from '../../../store/checkpoint/checkpoint.js';
import { chooseRecoveryStart, recoverLog } from '../../../store/commitlog/recovery.js';
import { Segments } from '../../../store/commitlog/segments.js';
import { QueueFiles } from '../../../store/consumequeue/queue-files.js';
import { storePaths } from '../../../store/files/paths.js';
import { listIndexFiles, readHeaderOf } from '../../../store/index/index-folder.js';
import { type IndexLayout, indexLayout } from '../../../store/index/layout.js';
import { type IndexPlace, queryIndex } from '../../../store/index/query.js';
import { SharedIndex } from '../../../store/index/shared-index.js';
import { recoverStore } from '../../../store/recovery.js';
import type { Dispatcher } from '../../../workers/reput/dispatcher.js';
import { LogBuilder } from '../../support/log-builder.js';
import { LogServices, runToRest, STORE } from '../../support/log-services.js';
import { LossyFiles, PowerCut } from '../../support/lossy-files.js';
import type { Loss } from '../../support/lossy-inode.js';
import { decodeRecord } from '../../../protocol/message/record.js';
import { parseProperties } from '../../../protocol/message/properties.js';
import { SeededRandom } from '../../support/seeded-random.js';

const SEGMENT_BYTES = 8192;
const paths = { ...storePaths(STORE), temporary: `${STORE}/temporary` };

/** One broker's life on a disk: recovers, checks the index, writes, until the power is cut or it ends by itself. */
class Life {
  readonly services: LogServices;
  readonly segments: Segments;
  readonly place: IndexPlace;
  readonly dispatcher: Dispatcher;
  readonly inBackground: boolean;

  constructor(
    readonly files: LossyFiles,
    readonly world: World,
  ) {
    this.services = new LogServices({ files, segmentBytes: SEGMENT_BYTES, queueFileBytes: 400 });
    this.services.clock.stepWall(world.timeMs - this.services.clock.wallMs());
    this.segments = new Segments(files, paths.commitLog, paths.temporary, SEGMENT_BYTES);
    const queues = new QueueFiles({
      files,
      dir: paths.consumeQueue,
      temporaryDir: paths.temporary,
      fileBytes: 400,
      openMax: 4,
      mode: 'readWrite',
    });
    const { layout } = world;
    const index = { layout, safe: world.random.chance(0.2) };
    const stores = { files, paths, segments: this.segments, queues };
    const recovered = recoverStore({ ...stores, nowMs: world.timeMs, checkCrc: true, index });
    markRunning(files, paths.abort);
    const { watermarks, table } = this.services;
    for (const { topic, queueId, maxOffset, nextOffset } of recovered.queues) {
      const row = table.register(topic, queueId);
      table.set(row, QueueWord.dispatched, maxOffset);
      table.set(row, QueueWord.next, nextOffset);
      world.next.set(`${topic}/${queueId}`, nextOffset);
    }
    watermarks.reset(Watermark.appended, recovered.validEnd);
    watermarks.reset(Watermark.flushed, recovered.validEnd);
    watermarks.reset(Watermark.dispatched, recovered.dispatchFrom);
    watermarks.reset(Watermark.indexed, recovered.indexFrom);
    const { dir: logDir, temporaryDir } = this.services.log;
    const memory = SharedIndex.allocate(layout.slots);
    this.place = { dir: paths.index, layout, memory, logDir, temporaryDir, segmentBytes: SEGMENT_BYTES };
    this.inBackground = recovered.indexFrom < recovered.scannedFrom;
    const { inBackground } = this;
    this.dispatcher = this.services.dispatcher({
      checkpointPath: paths.checkpoint,
      queueFileBytes: 400,
      index: { dir: paths.index, layout, memory, syncIntervalMs: world.random.chance(0.5) ? 500 : 8000, inBackground },
    });
  }

  run(messages: number): void {
    const { services, segments, world } = this;
    const { random } = world;
    const { watermarks, table, clock } = services;
    const log = new LogBuilder(segments, watermarks.get(Watermark.appended));
    for (const [key, next] of world.next) log.setNext(key.split('/')[0] ?? '', Number(key.split('/')[1]), next);
    for (let count = 0; count < messages; count++) {
      const step = random.below(900);
      clock.advance(step);
      if (world.clockSteps && random.chance(0.05)) clock.stepWall(random.below(20_000) - 15_000);
      world.timeMs = clock.wallMs();
      const topic = random.chance(0.3) ? 'U' : 'T';
      const properties = propertiesOf(world);
      const queueId = random.below(2);
      table.register(topic, queueId);
      const body = Buffer.alloc(random.below(600), random.below(256));
      log.append({ topic, queueId, body, properties, storeTimestamp: world.timeMs });
      watermarks.advance(Watermark.appended, log.position);
      if (random.chance(0.2)) this.flush();
      if (random.chance(0.05)) this.files.fail({ operation: 'write', path: '/index/', code: 'ENOSPC' });
      if (random.chance(0.4)) this.dispatcher.step();
    }
  }

  flush(): void {
    const { watermarks } = this.services;
    for (const base of this.segments.bases()) this.segments.fileAt(base, 'readWrite')?.file.sync();
    watermarks.advance(Watermark.flushed, watermarks.get(Watermark.appended));
    watermarks.reset(Watermark.flushedTimeMs, this.world.timeMs);
  }

  /** All of the log is indexed; a failed write is tried again a second later. */
  settle(): void {
    const { watermarks, clock } = this.services;
    for (let tries = 0; tries < 20; tries++) {
      runToRest(this.dispatcher);
      // The dispatcher takes it for a disk that fails, and goes on.
      if (this.files.isOff) throw new PowerCut('the machine is off');
      if (watermarks.get(Watermark.indexed) === watermarks.get(Watermark.appended)) return;
      clock.advance(1000);
    }
    assert.fail(`indexed ${watermarks.get(Watermark.indexed)} of ${watermarks.get(Watermark.appended)}`);
  }

  async end(): Promise<void> {
    this.settle();
    this.flush();
    await this.dispatcher.calls.syncNow();
    markEnded(this.files, paths.abort);
  }

  /** Every message is found by each of its keys, and nothing else is. */
  check(): void {
    const expected = this.keysInLog();
    for (const [name, offsets] of expected) assert.deepEqual(this.find(name), offsets, `key ${name}`);
    for (const name of this.world.names) if (!expected.has(name)) assert.deepEqual(this.find(name), [], `lost ${name}`);
  }

  keysInLog(): Map<string, number[]> {
    const keys = new Map<string, number[]>();
    recoverLog({
      segments: this.segments,
      fromOffset: 0,
      checkCrc: true,
      onRecord: (buffer, offset, _size, physicalOffset) => {
        const { topic, properties } = decodeRecord(buffer, offset);
        const parsed = parseProperties(properties);
        const words = [parsed.get('UNIQ_KEY') ?? '', ...(parsed.get('KEYS') ?? '').split(' ')];
        for (const word of new Set(words))
          if (word !== '') keys.set(`${topic}#${word}`, [...(keys.get(`${topic}#${word}`) ?? []), physicalOffset]);
      },
    });
    return keys;
  }

  find(name: string): number[] {
    const [topic = '', key = ''] = name.split('#');
    const logEnd = this.services.watermarks.get(Watermark.appended);
    const query = { topic, key, maxNum: 1000, beginMs: 0, endMs: Infinity, logMin: 0, logEnd, patienceMs: 0 };
    const bytes = Buffer.from(queryIndex(this.files, this.place, query).records);
    const offsets: number[] = [];
    for (let at = 0; at < bytes.length; at += bytes.readInt32BE(at))
      offsets.push(Number(bytes.readBigInt64BE(at + 28)));
    return offsets;
  }

  close(): void {
    this.services.close();
    this.segments.close();
  }
}

class World {
  timeMs = 1_700_000_000_000;
  messages = 0;
  readonly next = new Map<string, number>();
  /** Every `topic#key` that was ever written. */
  readonly names = new Set<string>();

  readonly clockSteps: boolean;
  /** Files that roll often, or hardly. */
  readonly layout: IndexLayout;

  constructor(readonly random: SeededRandom) {
    this.clockSteps = random.chance(0.3);
    this.layout = indexLayout(7, random.chance(0.5) ? 12 : 300);
  }
}

function propertiesOf(world: World): string {
  const { random } = world;
  const unique = `u${world.messages++}`;
  const words = Array.from({ length: random.below(5) }, () => (random.chance(0.5) ? 'Aa' : `k${random.below(9)}`));
  for (const topic of ['T', 'U']) for (const word of [unique, ...words]) world.names.add(`${topic}#${word}`);
  return `${random.chance(0.9) ? `UNIQ_KEY\u0001${unique}\u0002` : ''}KEYS\u0001${words.join(' ')}\u0002`;
}

/**
 * What 4.9 would do with the store after this crash: destroy the files that are newer than the checkpoint's index time, dispatch again
 * from its recovery start, pass over what lies below the index's end. Nothing may lie between the two, unless the clock was set back:
 * its recovery start goes by times, and misses queue entries then, too.
 */
function checkForJava(files: LossyFiles, world: World, keys: Map<string, number[]>): void {
  if (world.clockSteps || !wasAborted(files, paths.abort)) return;
  const segments = new Segments(files, paths.commitLog, paths.temporary, SEGMENT_BYTES);
  segments.open('read');
  if (segments.count === 0) return;
  // Of the times that only this broker writes 4.9 knows nothing.
  const checkpoint = { ...readCheckpoint(files, paths.checkpoint), queuesSyncedMs: undefined };
  const start = chooseRecoveryStart({ segments, normalExit: false, checkpoint, nowMs: world.timeMs + 100_000 });
  const ends = listIndexFiles(files, paths.index)
    .map((name) => readHeaderOf(files, `${paths.index}/${name}`))
    .filter(({ endTimestamp }) => endTimestamp <= checkpoint.indexMsgTimestamp)
    .map(({ endPhysical }) => endPhysical);
  const end = Math.max(-1, ...ends);
  for (const [name, offsets] of keys)
    for (const offset of offsets)
      assert.ok(offset <= end || offset >= start, `4.9 would miss ${name} at ${offset}: index ${end}, log ${start}`);
  segments.close();
}

async function survive(seed: number, cut: (life: number, files: LossyFiles) => void, loss: Loss, lives: number) {
  const world = new World(new SeededRandom(seed));
  const { random } = world;
  let files = new LossyFiles(random);
  let background = false;
  try {
    for (let count = 0; count < lives; count++) {
      cut(count, files);
      try {
        const life = new Life(files, world);
        background = life.inBackground;
        if (random.chance(0.5)) {
          life.settle();
          life.check();
          background = false;
        }
        life.run(25);
        if (random.chance(0.3)) await life.end();
        life.close();
      } catch (error) {
        // A service tells of a failed sync in its own words.
        if (!(error instanceof PowerCut) && !files.isOff) throw error;
      }
      files = random.chance(0.3) ? files.killed() : files.restart(loss);
    }
    await lastLife(files, world, background);
  } catch (error) {
    throw new Error(`seed ${seed}, lost: ${loss}`, { cause: error });
  }
}

async function lastLife(files: LossyFiles, world: World, background: boolean): Promise<void> {
  const before = new Segments(files, paths.commitLog, paths.temporary, SEGMENT_BYTES);
  before.open('readWrite');
  const keys = Life.prototype.keysInLog.call({ segments: before } as Life);
  before.close();
  if (!background) checkForJava(files, world, keys);
  const life = new Life(files, world);
  life.settle();
  life.check();
  await life.end();
  life.close();
  const next = new Life(files, world);
  next.settle();
  next.check();
  next.close();
}

describe('message index on a disk that loses power', () => {
  it('has every message of the log by its keys after a restart, and nothing else (300 seeds)', async function () {
    this.timeout(120_000);
    for (let seed = 1; seed <= 300; seed++) {
      const random = new SeededRandom(seed * 104_729);
      await survive(seed, (_life, files) => files.cutAt(1 + random.below(200)), 'random', 3);
    }
  });

  for (const loss of ['everything', 'nothing'] as const) {
    it(`survives a cut at each operation of a life (lost: ${loss})`, async function () {
      this.timeout(120_000);
      for (let operation = 1; operation <= 150; operation++)
        await survive(815, (life, files) => files.cutAt(life === 0 ? 140 : operation), loss, 2);
    });
  }
});
