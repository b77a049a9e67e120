import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KernelError } from '../../../kernel/base/errors.js';
import type { Addresses } from '../../ready-file.js';
import { settled } from '../settled.js';

const COMMAND = fileURLToPath(new URL('../../kernel.js', import.meta.url));
const START_MS = 60_000;
const STOP_MS = 30_000;
/** What is kept of its last words. */
const STDERR_CHARS = 2000;

export interface ChildWish {
  /** As `kernel start --topology` takes it. */
  readonly topology: string;
  /** `key=value`. */
  readonly set: readonly string[];
  readonly storeParent: string;
}

/** A broker in a process of its own on loopback and free ports, with a store that is deleted with it. */
export class BrokerChild {
  readonly #process: ChildProcess;
  readonly #dir: string;
  readonly #ended: Promise<void>;
  readonly #onExit = (): void => this.#remove();
  #stderr = '';
  #address = '';
  #stopping = false;

  static async start(wish: ChildWish): Promise<BrokerChild> {
    const child = new BrokerChild(wish);
    try {
      await child.#ready();
      return child;
    } catch (error) {
      await child.stop();
      throw error;
    }
  }

  private constructor({ topology, set, storeParent }: ChildWish) {
    this.#dir = mkdtempSync(join(storeParent, 'kernel-bench-'));
    process.on('exit', this.#onExit);
    const flags = ['--role', 'all', '--bind', '127.0.0.1', '--listen-port', '0', '--namesrv-port', '0'];
    const own = ['--topology', topology, '--store', join(this.#dir, 'store'), '--ready-file', this.#readyFile];
    const args = [COMMAND, 'start', ...flags, ...own, '--log-level', 'warn', ...set.flatMap((one) => ['--set', one])];
    this.#process = spawn(process.execPath, args, { env: plainEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] });
    this.#process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = `${this.#stderr}${text}`.slice(-STDERR_CHARS);
    });
    this.#ended = new Promise((resolve) => this.#process.once('close', () => resolve()));
  }

  /** `host:port` of the broker. */
  get address(): string {
    return this.#address;
  }

  get pid(): number {
    return this.#process.pid!;
  }

  /** The result of the work, or why the broker ended meanwhile. */
  async whileItRuns<T>(work: Promise<T>): Promise<T> {
    const died = this.#ended.then(() => {
      throw this.#death('ended by itself');
    });
    died.catch(() => undefined);
    return Promise.race([work, died]);
  }

  /** Ends it, by force when it takes too long, and deletes its store. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#process.kill('SIGTERM');
    const late = setTimeout(() => this.#process.kill('SIGKILL'), STOP_MS);
    await this.#ended;
    clearTimeout(late);
    process.off('exit', this.#onExit);
    this.#remove();
  }

  get #readyFile(): string {
    return join(this.#dir, 'ready.json');
  }

  async #ready(): Promise<void> {
    const isThere = await settled(() => existsSync(this.#readyFile) || this.#isOver, START_MS);
    if (this.#isOver) throw this.#death('did not start');
    if (!isThere) throw this.#death(`was not ready after ${START_MS / 1000} s`);
    this.#address = (JSON.parse(readFileSync(this.#readyFile, 'utf8')) as Addresses).broker!;
  }

  get #isOver(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  #death(what: string): KernelError {
    const said = this.#stderr.trim();
    const code = this.#process.exitCode ?? this.#process.signalCode;
    return new KernelError('BENCH_BROKER', `the broker ${what}${this.#stopping || code === null ? '' : ` (${code})`}`, {
      remedy: said === '' ? 'it said nothing on standard error' : `it said: ${said}`,
    });
  }

  /** Also when this process ends in between. */
  #remove(): void {
    if (!this.#isOver) this.#process.kill('SIGKILL');
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

/** Settings of this shell are not those of the comparison. */
function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(MQKERNEL_|NAMESRV_ADDR$)/.test(name)));
}
