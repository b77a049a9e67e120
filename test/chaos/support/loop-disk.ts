import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../kernel/base/errors.js';
import { tempDir } from '../../support/temp-dir.js';

/** FS_IOC_SHUTDOWN with NOLOGFLUSH: the file system stops at once, and nothing that was not synced is there afterwards. */
const SHUTDOWN = [
  'import fcntl, os, struct, sys',
  'fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack("I", 2))',
].join('\n');
const LIMIT_MS = 60_000;

/** Those that a test process leaves when it is ended from outside. */
const mounted = new Set<string>();
process.on('exit', () => {
  for (const path of mounted) run('umount', '-l', path);
});

/** A small ext4 in a file, mounted: its power can be cut. Needs root, mkfs.ext4 and python3, since Node has no ioctl. */
export class LoopDisk implements Disposable {
  readonly path: string;
  readonly #image: string;

  /** `folder` takes the image and the mount point. */
  constructor(folder: string, bytes: number) {
    this.path = join(folder, 'disk');
    this.#image = join(folder, 'image');
    mkdirSync(this.path);
    run('truncate', '-s', String(bytes), this.#image);
    run('mkfs.ext4', '-q', '-m', '0', this.#image);
    this.mount();
  }

  /** Why this machine or user has no such disk, or undefined. */
  static problem(): string | undefined {
    using dir = tempDir();
    try {
      using disk = new LoopDisk(dir.path, 16 * 1024 * 1024);
      disk.cutPower();
      return undefined;
    } catch (error) {
      return messageOf(error).split('\n').slice(0, 2).join(' ');
    }
  }

  mount(): void {
    run('mount', '-o', 'loop', this.#image, this.path);
    mounted.add(this.path);
  }

  /** From now on every call on a file of it fails. */
  cutPower(): void {
    run('python3', '-c', SHUTDOWN, this.path);
  }

  /** Nobody may have a file of it open. Frees the loop device, too. */
  unmount(): void {
    if (!mounted.has(this.path)) return;
    run('umount', this.path);
    mounted.delete(this.path);
  }

  [Symbol.dispose](): void {
    this.unmount();
  }
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: 'pipe', timeout: LIMIT_MS });
}
