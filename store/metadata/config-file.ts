import { KernelError, messageOf } from '../../kernel/base/errors.js';
import type { Logger } from '../../kernel/base/logger.js';
import type { StoreFiles } from '../files/contract.js';

/** Puts a whole file on disk: temporary file, sync, rename, folder sync; the old content stays as `<path>.bak`. */
export type ReplaceFile = (path: string, content: string, keepBackup: boolean) => Promise<void>;

export interface ConfigFilePlace {
  /** Undefined: nothing is kept, every call is a no-op (memory store). */
  readonly path: string | undefined;
  /** Folder of the commit log: an empty file beside stored messages is a loss, not a first start. */
  readonly commitLogDir?: string;
}

const SEGMENT_NAME = /^\d{20}$/;

/**
 * One JSON file of settings or progress under `config/`, with the names that 4.9 uses (4.9: ConfigManager), written so that a
 * power cut leaves the old or the new content and never an empty file.
 *
 * Writes are coalesced: at most one runs and one waits, however many ask.
 */
export class ConfigFile {
  readonly #place: ConfigFilePlace;
  readonly #files: StoreFiles;
  readonly #replace: ReplaceFile;
  readonly #logger: Logger;
  #running: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;
  #dirty = false;
  #failing = false;

  constructor(place: ConfigFilePlace, files: StoreFiles, replace: ReplaceFile, logger: Logger) {
    this.#place = place;
    this.#files = files;
    this.#replace = replace;
    this.#logger = logger;
  }

  /**
   * The decoded content of the file, or of its backup when the file is missing, empty or unreadable; undefined at a first start.
   * Throws when neither is readable although one is there: going on would forget topics, groups or progress without a word.
   */
  load<T>(decode: (content: Buffer) => T): T | undefined {
    const { path } = this.#place;
    if (path === undefined) return undefined;
    const problems: string[] = [];
    let onlyEmpty = true;
    for (const candidate of [path, `${path}.bak`]) {
      if (!this.#files.exists(candidate)) continue;
      try {
        const content = this.#files.readAll(candidate);
        if (content.length === 0) {
          problems.push(`${candidate} is empty`);
          continue;
        }
        onlyEmpty = false;
        const value = decode(content);
        if (candidate !== path) {
          this.#logger.warn({ path, problems }, 'configuration read from its backup');
        }
        return value;
      } catch (error) {
        onlyEmpty = false;
        problems.push(`${candidate}: ${messageOf(error)}`);
      }
    }
    if (problems.length === 0 || (onlyEmpty && !this.#storeHasSegments())) return undefined;
    throw new KernelError('CONFIG_FILE_DAMAGED', `no readable configuration: ${problems.join('; ')}`, {
      remedy: `restore ${path} from a copy, or remove it and its .bak to start without what it held`,
    });
  }

  /** Resolves when a state at least as new as that of this moment is on disk. `encode` runs when the write begins. */
  save(encode: () => string | Promise<string>): Promise<void> {
    const { path } = this.#place;
    if (path === undefined) return Promise.resolve();
    this.#dirty = true;
    if (this.#waiting !== undefined) return this.#waiting;
    const mine = this.#running.then(() => {
      this.#waiting = undefined;
      return this.#write(path, encode);
    });
    this.#waiting = mine;
    this.#running = mine.catch(() => undefined);
    return mine;
  }

  /** True when a state was to be saved and is not known to be on disk. */
  get dirty(): boolean {
    return this.#dirty;
  }

  /** Resolves when no write runs or waits; never rejects. */
  async settled(): Promise<void> {
    let seen: Promise<void>;
    do {
      seen = this.#running;
      await seen;
    } while (seen !== this.#running);
  }

  async #write(path: string, encode: () => string | Promise<string>): Promise<void> {
    this.#dirty = false;
    try {
      await this.#replace(path, await encode(), true);
    } catch (error) {
      this.#dirty = true;
      if (!this.#failing) this.#logger.error({ path, error: messageOf(error) }, 'configuration cannot be written');
      this.#failing = true;
      throw new KernelError('CONFIG_NOT_WRITTEN', `cannot write ${path}: ${messageOf(error)}`, {
        cause: error,
        remedy: 'it holds in memory and is tried again; check space and permissions of the folder',
      });
    }
    if (this.#failing) this.#logger.info({ path }, 'configuration can be written again');
    this.#failing = false;
  }

  #storeHasSegments(): boolean {
    const { commitLogDir } = this.#place;
    return commitLogDir !== undefined && this.#files.list(commitLogDir).some((name) => SEGMENT_NAME.test(name));
  }
}
