import { dirname, resolve } from 'node:path';
import type { StoreFile } from '../../store/files/contract.js';
import { OrderedFiles, type RenamableFile } from '../../store/files/ordered-files.js';
import { type Loss, LossyInode } from './lossy-inode.js';
import { SeededRandom } from './seeded-random.js';

/** The machine went off: nothing after it happens. */
export class PowerCut extends Error {
  override readonly name = 'PowerCut';
}

/** What changes the disk; `any` stands for all of them. */
export type Operation = 'any' | 'write' | 'truncate' | 'sync' | 'create' | 'rename' | 'makeDir' | 'syncDir' | 'unlink';

export interface FailureRule {
  readonly operation: Operation;
  /** Only paths that contain it. */
  readonly path?: string;
  /** Counted from 1 among the calls that fit. */
  readonly nth?: number;
  readonly code: string;
  /** All later ones, too. */
  readonly forever?: boolean;
}

/** What is on disk under which name. */
interface Names {
  readonly files: Map<string, LossyInode>;
  readonly dirs: Set<string>;
}

/** A change of names or sizes that waits in the file system's journal. */
interface Change {
  readonly dirs: readonly string[];
  readonly inode: LossyInode | undefined;
  readonly apply: (names: Names) => void;
}

interface Disk {
  readonly seen: Names;
  readonly durable?: Names;
  readonly journal?: Change[];
}

/**
 * A disk that loses what a power cut may lose: pages that were not synced are gone, there, or there in part; names and sizes that
 * were not synced are rolled back from the end (a journal keeps their order). Every changing call counts as one operation; the
 * cut comes at a chosen one. Calls can be made to fail instead.
 */
export class LossyFiles extends OrderedFiles {
  /** Changing calls so far. */
  operations = 0;
  #cutAt = Number.POSITIVE_INFINITY;
  #off = false;
  readonly #random: SeededRandom;
  readonly #seen: Names;
  readonly #durable: Names;
  readonly #journal: Change[];
  readonly #rules: { rule: FailureRule; count: number }[] = [];

  constructor(random = new SeededRandom(1), disk?: Disk) {
    super();
    this.#random = random;
    this.#seen = disk?.seen ?? { files: new Map(), dirs: new Set(['/']) };
    this.#durable = disk?.durable ?? { files: new Map(this.#seen.files), dirs: new Set(this.#seen.dirs) };
    this.#journal = disk?.journal ?? [];
  }

  /** The operation with this number (from 1) does not complete, and nothing after it happens. */
  cutAt(operation: number): void {
    this.#cutAt = operation;
  }

  cutNow(): void {
    this.#off = true;
  }

  get isOff(): boolean {
    return this.#off;
  }

  fail(rule: FailureRule): void {
    this.#rules.push({ rule, count: 0 });
  }

  /** The disk as the next start finds it. */
  restart(loss: Loss = 'random'): LossyFiles {
    this.#off = true;
    const kept =
      loss === 'everything'
        ? 0
        : loss === 'nothing'
          ? this.#journal.length
          : this.#random.below(this.#journal.length + 1);
    for (const change of this.#journal.slice(0, kept)) change.apply(this.#durable);
    const survivors = new Map<LossyInode, LossyInode>();
    const files = new Map<string, LossyInode>();
    for (const [path, inode] of this.#durable.files) {
      const survivor = survivors.get(inode) ?? inode.survivor(loss, this.#random);
      survivors.set(inode, survivor);
      files.set(path, survivor);
    }
    return this.#next({ seen: { files, dirs: new Set(this.#durable.dirs) } });
  }

  /** The process was killed, the machine goes on: all is there, and what was not synced can still be lost. */
  killed(): LossyFiles {
    this.#off = true;
    return this.#next({ seen: this.#seen, durable: this.#durable, journal: this.#journal });
  }

  override open(path: string, _mode: 'read' | 'readWrite'): StoreFile {
    return new LossyFile(this, path, this.#inode(path));
  }

  override list(dir: string): string[] {
    this.checkOn();
    const prefix = resolve(dir) === '/' ? '/' : `${resolve(dir)}/`;
    const names = [...this.#seen.files.keys(), ...this.#seen.dirs]
      .filter((path) => path.startsWith(prefix) && path !== prefix)
      .map((path) => path.slice(prefix.length))
      .filter((name) => !name.includes('/'));
    return names.sort();
  }

  override exists(path: string): boolean {
    this.checkOn();
    return this.#seen.files.has(resolve(path)) || this.#seen.dirs.has(resolve(path));
  }

  isDir(path: string): boolean {
    return this.#seen.dirs.has(resolve(path));
  }

  override sizeOf(path: string): number {
    return this.#inode(path).size;
  }

  /** This disk keeps no times: every file is old. */
  override modifiedMs(path: string): number {
    this.#inode(path);
    return 0;
  }

  override readAll(path: string): Buffer {
    const inode = this.#inode(path);
    const bytes = Buffer.alloc(inode.size);
    inode.read(bytes, 0, bytes.length, 0);
    return bytes;
  }

  protected override create(path: string): RenamableFile {
    this.count('create', path);
    const key = resolve(path);
    const existing = this.#seen.files.get(key);
    const inode = existing ?? new LossyInode();
    if (existing !== undefined) this.truncateInode(existing, 0);
    else this.#change([dirname(key)], undefined, (names) => names.files.set(key, inode));
    return new LossyFile(this, path, inode);
  }

  protected override rename(from: string, to: string): void {
    this.count('rename', to);
    const [source, target] = [resolve(from), resolve(to)];
    const inode = this.#inode(from);
    this.#change([dirname(source), dirname(target)], undefined, (names) => {
      names.files.delete(source);
      names.files.set(target, inode);
    });
  }

  protected override makeOneDir(path: string): void {
    this.count('makeDir', path);
    const key = resolve(path);
    this.#change([dirname(key)], undefined, (names) => names.dirs.add(key));
  }

  protected override syncDir(path: string): void {
    this.count('syncDir', path);
    this.#commit((change) => change.dirs.includes(resolve(path)));
  }

  protected override unlink(path: string): void {
    this.count('unlink', path);
    this.#inode(path);
    const key = resolve(path);
    this.#change([dirname(key)], undefined, (names) => names.files.delete(key));
  }

  /** One file or folder at a time, so that a cut in between leaves the rest. */
  protected override unlinkTree(path: string): void {
    const key = resolve(path);
    if (this.#seen.files.has(key)) return this.unlink(key);
    for (const name of this.list(key)) this.unlinkTree(`${key}/${name}`);
    this.count('unlink', path);
    this.#change([dirname(key)], undefined, (names) => names.dirs.delete(key));
  }

  /** A disk with a planted fault has it in the next life, too. */
  #next(disk: Disk): LossyFiles {
    const Kind = this.constructor as typeof LossyFiles;
    return new Kind(this.#random, disk);
  }

  checkOn(): void {
    if (this.#off) throw new PowerCut('the machine is off');
  }

  /** Counts an operation; throws the cut or a failure that is due. `before` is what happens of the operation all the same. */
  count(
    operation: Exclude<Operation, 'any'>,
    path: string,
    before: (why: 'cut' | 'failure') => void = () => undefined,
  ): void {
    this.checkOn();
    this.operations += 1;
    if (this.operations >= this.#cutAt) {
      before('cut');
      this.#off = true;
      throw new PowerCut(`power cut in operation ${this.operations}: ${operation} ${path}`);
    }
    for (const entry of this.#rules) {
      const { rule } = entry;
      if ((rule.operation !== operation && rule.operation !== 'any') || !path.includes(rule.path ?? '')) continue;
      entry.count += 1;
      const nth = rule.nth ?? 1;
      if (entry.count !== nth && !(rule.forever === true && entry.count > nth)) continue;
      before('failure');
      throw Object.assign(new Error(`${rule.code}: ${operation} ${path}`), { code: rule.code, path });
    }
  }

  get random(): SeededRandom {
    return this.#random;
  }

  truncateInode(inode: LossyInode, size: number): void {
    inode.truncate(size);
    this.#journal.push({ dirs: [], inode, apply: () => inode.truncateDurable(size) });
  }

  syncInode(inode: LossyInode): void {
    this.#commit((change) => change.inode === inode);
    inode.sync();
  }

  #change(dirs: readonly string[], inode: LossyInode | undefined, apply: (names: Names) => void): void {
    apply(this.#seen);
    this.#journal.push({ dirs, inode, apply });
  }

  /** A journal is written in order: what came before the last such change is on disk, too. */
  #commit(concerns: (change: Change) => boolean): void {
    const last = this.#journal.findLastIndex(concerns);
    for (const change of this.#journal.splice(0, last + 1)) change.apply(this.#durable);
  }

  #inode(path: string): LossyInode {
    this.checkOn();
    const inode = this.#seen.files.get(resolve(path));
    if (inode === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT', path });
    return inode;
  }
}

class LossyFile implements RenamableFile {
  readonly #files: LossyFiles;
  readonly #inode: LossyInode;
  #path: string;

  constructor(files: LossyFiles, path: string, inode: LossyInode) {
    this.#files = files;
    this.#path = path;
    this.#inode = inode;
  }

  get path(): string {
    return this.#path;
  }

  renamed(path: string): void {
    this.#path = path;
  }

  read(target: Uint8Array, targetOffset: number, length: number, position: number): number {
    this.#files.checkOn();
    return this.#inode.read(target, targetOffset, length, position);
  }

  async readAsync(target: Uint8Array, targetOffset: number, length: number, position: number): Promise<number> {
    return this.read(target, targetOffset, length, position);
  }

  /** A write that is cut or fails may have come part of the way. */
  write(source: Uint8Array, sourceOffset: number, length: number, position: number): void {
    this.#files.count('write', this.#path, () =>
      this.#inode.write(source, sourceOffset, this.#files.random.below(length + 1), position),
    );
    this.#inode.write(source, sourceOffset, length, position);
  }

  sync(): void {
    this.#files.count('sync', this.#path, (why) => {
      if (why === 'failure') this.#inode.forgetDirty();
    });
    this.#files.syncInode(this.#inode);
  }

  size(): number {
    this.#files.checkOn();
    return this.#inode.size;
  }

  truncate(size: number): void {
    this.#files.count('truncate', this.#path);
    this.#files.truncateInode(this.#inode, size);
  }

  close(): void {
    // Nothing is held.
  }
}
