import assert from 'node:assert/strict';
import { messageOf } from '../../kernel/base/errors.js';
import type { Service } from '../../kernel/threads/service.js';
import { Watermark, Watermarks } from '../../kernel/ring/watermarks.js';
import { markEnded, writeCheckpoint } from '../../store/checkpoint/checkpoint.js';
import type { StoreFile, StoreFiles } from '../../store/files/contract.js';
import { storePaths } from '../../store/files/paths.js';
import { NextOffsets } from '../../workers/commitlog/next-offsets.js';
import type { LogLocation } from '../../workers/commitlog/contract.js';
import { STORE } from '../support/life/broker-life.js';
import type { Tamper } from '../support/life/hand-threads.js';
import { Lives, type LivesWishes } from '../support/life/lives.js';
import { LossyFiles } from '../support/lossy-files.js';
import type { LossyInode } from '../support/lossy-inode.js';
import { SeededRandom } from '../support/seeded-random.js';

const SEEDS_MAX = 300;
const paths = storePaths(STORE);

interface Fault {
  readonly sync: boolean;
  readonly wishes: Omit<LivesWishes, 'seed' | 'sync'>;
  /** A failure of the disk that the fault needs to show. */
  readonly fails?: (files: LossyFiles, random: SeededRandom) => void;
  /** What the harness must say. */
  readonly says: RegExp;
}

/** Lives as the crash test has them, with the fault in; returns what the harness says, or undefined when it finds nothing. */
async function complaint(seed: number, fault: Fault): Promise<string | undefined> {
  const random = new SeededRandom(seed);
  const lives = new Lives({ ...fault.wishes, seed, sync: fault.sync, failing: fault.fails !== undefined });
  try {
    for (let life = 0; life < 3; life++) {
      fault.fails?.(lives.files, random);
      if (random.chance(0.8)) lives.files.cutAt(40 + random.below(200));
      await lives.live(80, random.chance(0.7) ? 'kill' : 'stop', random.chance(0.5) ? 'everything' : 'random');
    }
    await lives.live(0, 'stop', 'nothing');
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** The same files, of which each that is opened for writing is changed. */
function changed(files: StoreFiles, change: (file: StoreFile) => StoreFile): StoreFiles {
  return new Proxy(files, {
    get(target, name, receiver) {
      if (name === 'open') return (path: string, mode: 'read' | 'readWrite') => change(target.open(path, mode));
      if (name === 'createComplete')
        return (...args: Parameters<StoreFiles['createComplete']>) => change(target.createComplete(...args));
      const value = Reflect.get(target, name, receiver) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** A file with one call replaced. */
function withCall<K extends keyof StoreFile>(file: StoreFile, name: K, call: StoreFile[K]): StoreFile {
  return new Proxy(file, {
    get(target, asked) {
      if (asked === name) return call;
      const value = Reflect.get(target, asked, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Tampers with one service only. */
function only<Boot>(name: string, change: (boot: Boot, make: (boot: Boot) => Service) => Service): Tamper {
  return (service, boot, make) => (service === name ? change(boot, make as (boot: Boot) => Service) : make(boot));
}

interface LogBoot {
  readonly log: LogLocation & { readonly files: StoreFiles };
}

const onFiles = <Boot extends LogBoot>(boot: Boot, change: (file: StoreFile) => StoreFile): Boot => ({
  ...boot,
  log: { ...boot.log, files: changed(boot.log.files, change) },
});

class SkipsSync extends LossyFiles {
  override syncInode(_inode: LossyInode): void {
    // Says that it did.
  }
}

class SkipsFolderSync extends LossyFiles {
  protected override syncDir(_path: string): void {
    // Says that it did.
  }
}

/** The writer's bytes reach the file one step after the units are completed. */
const writesLate = only<LogBoot>('commitlog', (boot, make) => {
  const late: (() => void)[] = [];
  const service = make(
    onFiles(boot, (file) =>
      withCall(file, 'write', (source, from, length, position) => {
        const bytes = Buffer.from(source.subarray(from, from + length));
        late.push(() => file.write(bytes, 0, length, position));
      }),
    ),
  );
  const writeAll = (): void => late.splice(0).forEach((write) => write());
  return {
    step() {
      writeAll();
      return service.step();
    },
    close() {
      writeAll();
      service.close();
    },
  };
});

const swallowsErrors = only<LogBoot>('flush', (boot, make) =>
  make(
    onFiles(boot, (file) =>
      withCall(file, 'sync', () => {
        try {
          file.sync();
        } catch {
          // As 4.9 does.
        }
      }),
    ),
  ),
);

const showsUnsynced = only<object>('reput', (boot, make) => make({ ...boot, visibleWhenFlushed: false }));
const showsSynced = only<object>('reput', (boot, make) => make({ ...boot, visibleWhenFlushed: true }));

const endsEarly = only<LogBoot>('reput', (boot, make) => {
  markEnded(boot.log.files, paths.abort);
  return make(boot);
});

/** A checkpoint that says of all that was written that it is synced. */
const vouchesTooEarly = only<LogBoot & { readonly watermarks: SharedArrayBuffer }>('reput', (boot, make) => {
  const service = make(boot);
  const step = (): number => {
    const waitMs = service.step();
    const time = new Watermarks(boot.watermarks).get(Watermark.appendedTimeMs);
    const times = { physicMsgTimestamp: time, logicsMsgTimestamp: time, indexMsgTimestamp: time };
    writeCheckpoint(boot.log.files, paths.checkpoint, times);
    return waitMs;
  };
  return { step, close: () => service.close(), calls: service.calls! };
});

const failsOnce =
  (operation: 'write' | 'sync', code: string) =>
  (files: LossyFiles, random: SeededRandom): void =>
    files.fail({ operation, path: 'commitlog', code, nth: 1 + random.below(20) });

const faults: Readonly<Record<string, Fault>> = {
  'a sync is skipped (SYNC_FLUSH)': {
    sync: true,
    wishes: { disk: (random) => new SkipsSync(random) },
    says: /^lost|^hole|nobody wrote|is gone|invented/,
  },
  'a sync is skipped (ASYNC_FLUSH)': {
    sync: false,
    wishes: { disk: (random) => new SkipsSync(random) },
    says: /^lost|^hole|nobody wrote|is gone|invented/,
  },
  'a message is acknowledged before it is written': {
    sync: false,
    wishes: { tamper: writesLate },
    says: /^lost|shown at/,
  },
  'a message is acknowledged before it is synced': {
    sync: true,
    wishes: { runsSync: false, tamper: showsSynced },
    says: /^lost.*under SYNC_FLUSH/,
  },
  'an error of a sync is swallowed': {
    sync: true,
    wishes: { tamper: swallowsErrors },
    fails: failsOnce('sync', 'EIO'),
    says: /^lost|^hole|they were on disk/,
  },
  'a folder is not synced': {
    sync: true,
    wishes: { disk: (random) => new SkipsFolderSync(random) },
    says: /^lost|is gone/,
  },
  'queues are built past what is synced': {
    sync: true,
    wishes: { tamper: showsUnsynced },
    says: /watermarks out of order|shown/,
  },
  'the abort file goes too early': {
    sync: false,
    wishes: { tamper: endsEarly },
    says: /^the recovered end is|^lost|^hole|they were on disk/,
  },
  'the checkpoint is too new': {
    sync: false,
    wishes: { tamper: vouchesTooEarly },
    says: /^the recovered end is|^lost|^hole|they were on disk/,
  },
};

describe('a planted fault is found by the crash tests', () => {
  for (const [name, fault] of Object.entries(faults)) it(name, () => isFound(fault));

  it('a refused message burns a queue offset', async () => {
    const { takeBack } = NextOffsets.prototype;
    NextOffsets.prototype.takeBack = NextOffsets.prototype.publish;
    try {
      await isFound({
        sync: false,
        wishes: {},
        fails: failsOnce('write', 'ENOSPC'),
        says: /offset \d+ follows|shown at/,
      });
    } finally {
      NextOffsets.prototype.takeBack = takeBack;
    }
  });

  it('nothing is found where nothing is planted', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const fails = failsOnce(seed % 2 === 0 ? 'write' : 'sync', 'EIO');
      assert.equal(await complaint(seed, { sync: seed % 3 === 0, wishes: {}, fails, says: /./ }), undefined);
    }
  });
});

async function isFound(fault: Fault): Promise<void> {
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const said = await complaint(seed, fault);
    if (said === undefined) continue;
    assert.match(said, fault.says);
    return;
  }
  assert.fail(`${SEEDS_MAX} seeds are green`);
}
