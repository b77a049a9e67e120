import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { messageOf, systemCodeOf } from '../../kernel/base/errors.js';
import type { Logger } from '../../kernel/base/logger.js';
import { jsonText } from '../../protocol/bodies/json-write.js';
import { queueTableMap, readQueueTable } from '../../protocol/bodies/message-queue.js';
import { bodyObject, wholeValue } from '../../protocol/bodies/shape.js';
import { ClientError } from '../errors.js';
import { queueKey, type MessageQueue } from '../transport/message-queue.js';
import { OffsetTable, type OffsetStore } from './offset-store.js';

/** 4.9: LocalFileOffsetStore.LOCAL_OFFSET_STORE_DIR. */
export const defaultOffsetDir = (): string => path.join(homedir(), '.rocketmq_offsets');

/**
 * Offsets of a broadcasting consumer, in a file that the Java client reads too:
 * `{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:12}}`. The last version but one stays beside it as `.bak`.
 */
export class FileOffsetStore implements OffsetStore {
  readonly #file: string;
  readonly #logger: Logger;
  readonly #table = new OffsetTable(queueKey);
  #saving: Promise<void> = Promise.resolve();

  constructor(file: string, logger: Logger) {
    this.#file = file;
    this.#logger = logger;
  }

  /** Reads the file, or its `.bak` when it is missing, empty or broken. Rejects when it is broken and `.bak` is no help. */
  async load(): Promise<void> {
    const main = await this.#parsed(this.#file);
    const used = Array.isArray(main) ? main : await this.#parsed(`${this.#file}.bak`);
    if (Array.isArray(used)) for (const [queue, offset] of used) this.#table.set(queue, offset, false);
    // Beginning anew with offsets on disk that cannot be read would skip or repeat messages without a word.
    else if (main !== undefined || used !== undefined) throw this.#unreadable(main ?? used);
  }

  read(queue: MessageQueue): Promise<number | undefined> {
    return Promise.resolve(this.#table.get(queue));
  }

  current(queue: MessageQueue): number | undefined {
    return this.#table.get(queue);
  }

  update(queue: MessageQueue, offset: number, increaseOnly: boolean): void {
    this.#table.set(queue, offset, increaseOnly);
  }

  commit(): Promise<void> {
    this.#saving = this.#saving.then(
      () => this.#save(),
      () => this.#save(),
    );
    return this.#saving;
  }

  async persist(): Promise<void> {
    try {
      await this.commit();
    } catch (error) {
      this.#logger.warn({ file: this.#file, problem: messageOf(error) }, 'offsets not saved');
    }
  }

  /** Nobody else keeps them: a queue that leaves for a while goes on where it was. */
  forget(): void {}

  /** The table; undefined when there is none; the error when there is something else. */
  async #parsed(file: string): Promise<[MessageQueue, number][] | undefined | Error> {
    try {
      const text = await readFile(file, 'utf8');
      return text.trim() === '' ? undefined : parse(text);
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return undefined;
      this.#logger.warn({ file, problem: messageOf(error) }, 'offset file cannot be read');
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #unreadable(cause: unknown): ClientError {
    return new ClientError('ILLEGAL_ARGUMENT', `the offsets in ${this.#file} cannot be read: ${messageOf(cause)}`, {
      cause,
      remedy: 'repair the file, or remove it with its .bak to begin anew',
    });
  }

  async #save(): Promise<void> {
    const table = queueTableMap([...this.#table.entries()], (offset: number) => offset);
    await mkdir(path.dirname(this.#file), { recursive: true });
    const temporary = `${this.#file}.tmp`;
    const handle = await open(temporary, 'w');
    try {
      await handle.writeFile(jsonText({ offsetTable: table }));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(this.#file, `${this.#file}.bak`).catch((error: unknown) => {
      if (systemCodeOf(error) !== 'ENOENT') throw error;
    });
    await rename(temporary, this.#file);
  }
}

function parse(text: string): [MessageQueue, number][] {
  const table = bodyObject(text, 'offset file')['offsetTable'];
  return readQueueTable(table, 'offsetTable', (value) => wholeValue(value, 'offset'));
}
