import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './until.js';

const hook = new URL('./disk-faults-hook.js', import.meta.url);

/** What happens to calls on files of the commit log. */
export type DiskRule =
  | 'work'
  /** A sync does not return. */
  | 'hold syncs'
  | 'fail syncs'
  /** A record gets half onto the disk, then EIO; what erases it works. */
  | 'fail records'
  /** The same, and it cannot be erased. */
  | 'fail writes'
  /** ENOSPC before anything is written. */
  | 'full';

/** The disk of a broker in a process of its own, whichever of its threads uses it. */
export class DiskFaults {
  readonly #path: string;
  /** Put before the broker's command. */
  readonly via: readonly string[];

  constructor(folder: string) {
    this.#path = join(folder, 'disk-faults');
    this.via = ['env', `NODE_OPTIONS=--import ${hook.href}`, `DISK_FAULTS=${this.#path}`];
    this.rule('work');
  }

  rule(rule: DiskRule): void {
    writeFileSync(`${this.#path}.new`, rule);
    renameSync(`${this.#path}.new`, this.#path);
  }

  /** Waits until a call on the thread of that name has met this. */
  async met(what: 'held' | 'EIO' | 'ENOSPC', thread: string): Promise<void> {
    const notes = `${this.#path}.notes`;
    const isNoted = (): boolean =>
      existsSync(notes) && readFileSync(notes, 'utf8').split('\n').includes(`${what} on ${thread}`);
    await until(isNoted, `a call on the commit log meets on thread ${thread}: ${what}`);
  }
}
