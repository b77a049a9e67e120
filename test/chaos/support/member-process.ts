import { fork, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { until } from '../../support/until.js';
import type { MemberSettings } from './member-child.js';

const childMain = fileURLToPath(new URL('./member-child.js', import.meta.url));
const JOIN_LIMIT_MS = 30_000;
const END_LIMIT_MS = 40_000;

/** A member of the groups in a process of its own. A child ends with this process: its channel closes. */
export class MemberProcess {
  readonly file: string;
  readonly #child: ChildProcess;
  #joined = false;
  #ending: string | undefined;

  constructor(
    readonly name: string,
    settings: MemberSettings,
  ) {
    this.file = settings.file;
    writeFileSync(this.file, '');
    this.#child = fork(childMain, [JSON.stringify(settings)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    });
    this.#child.once('message', () => (this.#joined = true));
    this.#child.once('exit', (code, signal) => (this.#ending = signal ?? `code ${code}`));
  }

  async joined(): Promise<void> {
    await until(() => this.#joined || this.#ending !== undefined, `${this.name} joins`, JOIN_LIMIT_MS);
    if (this.#ending !== undefined) throw new Error(`${this.name} ended instead of joining: ${this.#ending}`);
  }

  /** Lets it stop: listeners that run are waited for. */
  async leave(): Promise<void> {
    const ending = await this.#end('SIGTERM');
    if (ending !== 'code 0') throw new Error(`${this.name} left with ${ending}`);
  }

  async kill9(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<string> {
    if (this.#ending === undefined) this.#child.kill(signal);
    await until(() => this.#ending !== undefined, `${this.name} ends`, END_LIMIT_MS);
    return this.#ending!;
  }
}
