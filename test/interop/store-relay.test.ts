import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { recoverHere } from './support/our-view.js';
import { rebuildBoth } from './support/rebuild.js';
import { Relay } from './support/relay.js';
import {
  assertLogGrew,
  assertSameFiles,
  checkpointTimes,
  copyStore,
  filesBelow,
  logBytes,
  queueEnds,
  settingsOf,
  smallStore,
} from './support/store-folder.js';
import { driver } from './support/suite.js';
import { defaultKind, startNameServer, type NameServer, type TargetKind } from './support/target.js';

interface KeptFilter {
  readonly expression: string;
  readonly dead: boolean;
  readonly bornTime: number;
}

interface FiltersFile {
  readonly filterDataByTopic: Record<string, { readonly groupFilterData: Record<string, KeptFilter> }>;
}

describe('a store that both brokers serve in turns', function () {
  this.timeout(180_000);
  let folder: string;
  let storeDir: string;
  let namesrv: NameServer;
  let relay: Relay;

  before(async function () {
    if (defaultKind === 'jvm') this.skip();
    namesrv = await startNameServer();
  });
  after(() => namesrv?.stop());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mqkernel-relay-'));
    storeDir = join(folder, 'store');
    relay = new Relay(storeDir, namesrv.address);
  });
  afterEach(async () => {
    await relay.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('the real one begins; at the end both build the same queues from the log', async () => {
    await turns('jvm', defaultKind, 'jvm', defaultKind);
    const [segments, queueFiles] = ['commitlog', 'consumequeue'].map((name) => filesBelow(join(storeDir, name)).size);
    assert.ok((segments ?? 0) > 5 && (queueFiles ?? 0) > 25, `${segments} and ${queueFiles} files are too few`);
    const { ours, theirs } = await rebuildBoth(storeDir, namesrv.address, ['consumequeue']);
    assertSameFiles(join(ours, 'consumequeue'), join(theirs, 'consumequeue'), 'queues built anew');
    assertSameFiles(join(ours, 'consumequeue'), join(storeDir, 'consumequeue'), 'queues as they had grown');
  });

  it('ours begins', () => turns(defaultKind, 'jvm', defaultKind));

  async function turns(...kinds: TargetKind[]): Promise<void> {
    let filterBornMs: number | undefined;
    for (const [i, kind] of kinds.entries()) {
      const logBefore = logBytes(storeDir);
      await relay.begin(kind);
      if (i > 0) {
        await relay.findsEverything();
        await relay.pendingArrives();
        await relay.transactionsAreChecked();
      }
      await relay.writes();
      if (kind === 'jvm') await relay.writesOverIpv6();
      await relay.consumes();
      await relay.consumesFiltered();
      await relay.transactions();
      if (i < kinds.length - 1) await relay.leavesPending();
      await relay.remember();
      await relay.stop();
      assertLogGrew(logBefore, storeDir);
      const { expression, dead, bornTime } = keptFilter();
      assert.deepEqual([expression, dead], ['number > 3', true]);
      assert.equal(bornTime, (filterBornMs ??= bornTime), 'since when the filter counts stays');
      await wasLeftClean();
    }
  }

  /** Of the group that consumes with an expression, as whoever ran last left it. */
  function keptFilter(): KeptFilter {
    const text = readFileSync(join(storeDir, 'config', 'consumerFilter.json'), 'utf8');
    const topics = (JSON.parse(text) as FiltersFile).filterDataByTopic;
    const kept = topics['RelayMany']?.groupFilterData['relay_sql'];
    assert.ok(kept !== undefined, text);
    return kept;
  }

  /** After a clean stop neither side dispatches anything again, and none misses a message. */
  async function wasLeftClean(): Promise<void> {
    assert.equal(existsSync(join(storeDir, 'abort')), false);
    const [theirs, ours] = ['java', 'ours'].map((name) => copyStore(storeDir, join(folder, name)));
    assert.ok(theirs !== undefined && ours !== undefined);
    const java = await driver();
    const state = await java.openStore(theirs, smallStore);
    assertSameFiles(join(theirs, 'consumequeue'), join(storeDir, 'consumequeue'), 'queues after the real start');
    await java.closeStore(theirs);
    assertProgressKept(theirs, storeDir);
    const recovered = recoverHere(ours);
    assertSameFiles(join(ours, 'consumequeue'), join(storeDir, 'consumequeue'), 'queues after our start');
    assert.deepEqual(
      [state.dispatched, recovered.normalExit, recovered.validEnd, recovered.dispatchFrom],
      [0, true, state.maxPhyOffset, state.maxPhyOffset],
    );
    assert.deepEqual(queueEnds(recovered.queues), queueEnds(state.queues));
    const [log, queues] = checkpointTimes(storeDir);
    assert.ok(log > 0 && queues > 0, `checkpoint ${log}, ${queues}`);
    for (const copy of [theirs, ours]) rmSync(copy, { recursive: true });
  }
});

/** Progress of delayed messages, which the real store writes again at its end. */
function assertProgressKept(after: string, before: string): void {
  const [now, then] = [after, before].map((dir) => settingsOf(dir, 'delayOffset.json') as DelayOffsets);
  for (const [level, offset] of Object.entries(then?.offsetTable ?? {}))
    assert.ok((now?.offsetTable[level] ?? -1) >= offset, `level ${level}: ${now?.offsetTable[level]}, was ${offset}`);
}

interface DelayOffsets {
  readonly offsetTable: Readonly<Record<string, number>>;
}
