import { join } from 'node:path';
import { messageOf } from '../../kernel/base/errors.js';
import { readJson } from '../../protocol/bodies/json.js';
import { CHECKPOINT_BYTES } from '../checkpoint/checkpoint.js';
import type { StoreFiles } from '../files/contract.js';
import type { StorePaths } from '../files/paths.js';
import type { Findings } from './findings.js';

const READ_ALL = 'nothing: the next start after a crash reads the whole log';
const JSON_BYTES_MAX = 256 * 1024 * 1024;

export function checkCheckpoint(files: StoreFiles, paths: StorePaths, nowMs: number, findings: Findings): void {
  const { checkpoint: path } = paths;
  if (!files.exists(path)) return findings.note(path, undefined, 'there is no checkpoint', READ_ALL);
  const bytes = files.readAll(path);
  if (bytes.length < 24)
    return findings.damage(path, bytes.length, `it has ${bytes.length} bytes instead of ${CHECKPOINT_BYTES}`, READ_ALL);
  ['log', 'queues', 'index'].forEach((part, index) => {
    const time = bytes.readBigInt64BE(index * 8);
    if (time < 0n || time > BigInt(Number.MAX_SAFE_INTEGER))
      findings.damage(path, index * 8, `its time for the ${part} is ${time}`, READ_ALL);
    else if (time > BigInt(Math.ceil(nowMs)))
      findings.note(path, index * 8, `its time for the ${part} lies in the future`, READ_ALL);
  });
}

/** Settings and progress: each file of `config/` must be JSON, or its backup must. Returns how many were read. */
export function checkConfigFiles(files: StoreFiles, paths: StorePaths, findings: Findings): number {
  const names = files.list(paths.config);
  const mains = new Set(names.filter((name) => /\.json(\.bak)?$/.test(name)).map((name) => name.replace(/\.bak$/, '')));
  for (const name of mains) checkOne(files, join(paths.config, name), findings);
  return mains.size;
}

function checkOne(files: StoreFiles, path: string, findings: Findings): void {
  const problem = problemOf(files, path);
  if (problem === undefined) return;
  const backup = problemOf(files, `${path}.bak`);
  if (backup === undefined)
    findings.note(path, problem.position, problem.what, 'nothing: the next start reads its backup');
  else
    findings.damage(
      path,
      problem.position,
      `${problem.what}, and of its backup: ${backup.what}`,
      'restore it from a copy, or remove it and its .bak to start without what it held',
    );
}

function problemOf(files: StoreFiles, path: string): { readonly what: string; readonly position?: number } | undefined {
  if (!files.exists(path)) return { what: 'missing' };
  const bytes = files.readAll(path);
  if (bytes.length === 0) return { what: 'empty', position: 0 };
  try {
    readJson(bytes, { bytesMax: JSON_BYTES_MAX });
    return undefined;
  } catch (error) {
    const position = /position (\d+)/.exec(messageOf(error))?.[1];
    return { what: messageOf(error), ...(position === undefined ? {} : { position: Number(position) }) };
  }
}
