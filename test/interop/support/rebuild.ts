import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { driver, unique } from './suite.js';
import { copyStore, smallFiles, smallStore } from './store-folder.js';
import { defaultKind, startTarget } from './target.js';

/** Two copies of a store that ended cleanly, in which each broker has built again what was removed. */
export interface Rebuilt {
  readonly ours: string;
  readonly theirs: string;
}

/** `folders` are removed from both copies, such as `consumequeue`. Nothing delayed may be due: that would be stored anew. */
export async function rebuildBoth(storeDir: string, namesrv: string, folders: readonly string[]): Promise<Rebuilt> {
  const [ours, theirs] = ['ours', 'theirs'].map((name) => copyStore(storeDir, `${storeDir}-${unique(name)}`));
  assert.ok(ours !== undefined && theirs !== undefined);
  for (const copy of [ours, theirs]) for (const name of folders) rmSync(join(copy, name), { recursive: true });
  const java = await driver();
  await java.openStore(theirs, smallStore);
  const target = await startTarget({ kind: defaultKind, storeDir: ours, namesrv, options: smallFiles });
  await Promise.all([target.stop(), java.closeStore(theirs)]);
  return { ours, theirs };
}
