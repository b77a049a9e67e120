import { inject, injectable } from '../../kernel/container.js';
import { KernelError } from '../../kernel/base/errors.js';
import { Logger } from '../../kernel/tokens.js';
import { readJson } from '../../protocol/bodies/json.js';
import { asObject, table, tableOf, textKey, textValue } from '../../protocol/bodies/shape.js';
import { FieldError } from '../../protocol/fields.js';
import type { ConfigFile } from '../../store/metadata/config-file.js';
import { KvFile } from './kv-file.js';

/** Where mqadmin puts which queues of which brokers an ordered topic has. */
export const ORDER_TOPIC_CONFIG = 'ORDER_TOPIC_CONFIG';

/** The whole file is written on each change, and the order configuration goes out with each registration. */
const ENTRIES_MAX = 100_000;
const NAME_LENGTH_MAX = 1024;
const VALUE_LENGTH_MAX = 65_536;

type Tables = Map<string, Map<string, string>>;

/** `{"configTable":{namespace:{key:value}}}` on one line, as 4.9 writes it. */
function encodeKvFile(tables: Tables): string {
  const namespaces = [...tables].map(([name, entries]) => {
    const members = [...entries].map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
    return `${JSON.stringify(name)}:{${members.join(',')}}`;
  });
  return `{"configTable":{${namespaces.join(',')}}}`;
}

function decodeKvFile(content: Buffer): Tables {
  const object = asObject(readJson(content, { bytesMax: 512 * 1024 * 1024 }), 'kvConfig.json');
  return table(object, 'configTable', textKey, (value, what) => tableOf(value, what, textKey, textValue));
}

/** 4.9: KVConfigManager. Settings of the name server by namespace and key; a change resolves when it is on disk. */
@injectable()
export class KvConfig {
  readonly #file: ConfigFile;
  readonly #logger: Logger;
  #tables: Tables = new Map();
  #count = 0;

  constructor(@inject(KvFile) file: ConfigFile, @inject(Logger) logger: Logger) {
    this.#file = file;
    this.#logger = logger;
  }

  load(): void {
    const content = this.#file.load(decodeKvFile);
    if (content === undefined) return;
    this.#tables = content;
    for (const entries of content.values()) this.#count += entries.size;
  }

  get(namespace: string, key: string): string | undefined {
    return this.#tables.get(namespace)?.get(key);
  }

  /** All of a namespace; undefined when nothing was ever put there. */
  namespace(namespace: string): ReadonlyMap<string, string> | undefined {
    return this.#tables.get(namespace);
  }

  async put(namespace: string, key: string, value: string): Promise<void> {
    bounded('namespace', namespace, NAME_LENGTH_MAX);
    bounded('key', key, NAME_LENGTH_MAX);
    bounded('value', value, VALUE_LENGTH_MAX);
    let entries = this.#tables.get(namespace);
    const before = entries?.get(key);
    if (before === undefined) {
      if (this.#count >= ENTRIES_MAX) {
        throw new KernelError('KV_FULL', `there are ${ENTRIES_MAX} settings already: delete unused ones`);
      }
      this.#count++;
    }
    if (entries === undefined) this.#tables.set(namespace, (entries = new Map()));
    entries.set(key, value);
    this.#logger.info({ namespace, key, value, before }, 'setting put');
    await this.#save();
  }

  async delete(namespace: string, key: string): Promise<void> {
    if (this.#tables.get(namespace)?.delete(key) === true) this.#count--;
    this.#logger.info({ namespace, key }, 'setting deleted');
    await this.#save();
  }

  /** Tries again what could not be written, and waits for what is being written. */
  async flush(): Promise<void> {
    if (this.#file.dirty) await this.#save();
    else await this.#file.settled();
  }

  #save(): Promise<void> {
    return this.#file.save(() => encodeKvFile(this.#tables));
  }
}

function bounded(field: string, text: string, lengthMax: number): void {
  if (text.length > lengthMax) throw new FieldError(field, `has more than ${lengthMax} characters`);
}
