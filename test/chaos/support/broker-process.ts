import { fork, spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../kernel/base/clock.js';
import { until } from '../../support/until.js';

/** Options of the broker by name. */
export type Settings = Readonly<Record<string, string | number | boolean>>;

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Monotonic milliseconds. */
  readonly atMs: number;
}

const kernelMain = fileURLToPath(new URL('../../../cli/kernel.js', import.meta.url));
const childMain = fileURLToPath(new URL('./broker-child.js', import.meta.url));
/** Cores that others use, too: a start may take long. How long it may take is the tests' own matter. */
const START_LIMIT_MS = 60_000;
const END_LIMIT_MS = 30_000;
const TAIL_LINES = 40;

/** Ended with the test process, however that ends; a build server's time limit sends SIGTERM, which by itself runs no exit handler. */
const running = new Set<ChildProcess>();
process.once('SIGTERM', () => process.exit(1));
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * A broker in a process of its own on a store that outlives it: started, killed and started again. `kind` is the command
 * `kernel start`, or `child`, which can be told to end one of its worker threads.
 */
export class BrokerProcess {
  readonly storeDir: string;
  port = 0;
  /** Of a process that is a name server, too (role `all`). */
  namesrv = '';
  /** A command that becomes the broker's, such as `env` or `fiu-run`; for kind `command`. */
  via: readonly string[] = [];
  readonly #logFile: string;
  #child: ChildProcess | undefined;
  #ending: Ending | undefined;
  #logFrom = 0;

  /** `storeDir` defaults to a folder in `folder`, which also takes the log and the ready files. */
  constructor(
    readonly folder: string,
    private readonly settings: Settings,
    private readonly kind: 'command' | 'child' = 'command',
    storeDir = join(folder, 'store'),
  ) {
    this.storeDir = storeDir;
    this.#logFile = join(folder, 'broker.log');
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get ending(): Ending | undefined {
    return this.#ending;
  }

  async start(): Promise<void> {
    this.launch();
    await this.ready();
  }

  /** Starts the process and does not wait for anything. */
  launch(): void {
    rmSync(this.#readyFile(), { force: true });
    this.#logFrom = this.log().length;
    this.#ending = undefined;
    const log = openSync(this.#logFile, 'a');
    const sets = Object.entries(this.#allSettings()).map(([name, value]) => `${name}=${value}`);
    const child =
      this.kind === 'child'
        ? fork(childMain, sets, { stdio: ['ignore', log, log, 'ipc'], execArgv: [], env: environment() })
        : this.#spawn([process.execPath, kernelMain, 'start', ...sets.flatMap((set) => ['--set', set])], log);
    closeSync(log);
    this.#child = child;
    running.add(child);
    child.once('exit', (code, signal) => {
      running.delete(child);
      this.#ending = { code, signal, atMs: systemClock.monoMs() };
    });
  }

  /** Waits until the broker serves. */
  async ready(): Promise<void> {
    const file = this.#readyFile();
    await until(() => existsSync(file) || this.#ending !== undefined, 'the broker serves', START_LIMIT_MS);
    if (this.#ending !== undefined) throw new Error(`the broker ended instead of serving: ${describe(this.#ending)}`);
    const { broker, namesrv } = JSON.parse(readFileSync(file, 'utf8')) as { broker: string; namesrv?: string };
    this.namesrv = namesrv ?? '';
    this.port = Number(broker.slice(broker.lastIndexOf(':') + 1));
  }

  /** Waits until the present process has logged this text, or has ended. */
  async logged(text: string): Promise<void> {
    await until(
      () => this.logOfThisStart().includes(text) || this.#ending !== undefined,
      `log "${text}"`,
      START_LIMIT_MS,
    );
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#ending === undefined) this.#child?.kill(signal);
  }

  /** To a broker of kind `child`: ends the worker thread. Resolves when the broker has done so. */
  async terminate(thread: string): Promise<void> {
    const child = this.#child!;
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', () => resolve());
      child.send({ terminate: thread }, (error) => error !== null && reject(error));
    });
  }

  /** Waits for the end of the process. */
  async ended(limitMs = END_LIMIT_MS): Promise<Ending> {
    await until(() => this.#ending !== undefined || this.#child === undefined, 'the broker ends', limitMs);
    return this.#ending ?? { code: null, signal: null, atMs: 0 };
  }

  async kill9(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended();
  }

  /** Resident memory now, bytes. */
  residentBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? NaN) * 1024;
  }

  log(): string {
    return existsSync(this.#logFile) ? readFileSync(this.#logFile, 'utf8') : '';
  }

  logOfThisStart(): string {
    return this.log().slice(this.#logFrom);
  }

  logTail(): string {
    const lines = this.log().trimEnd().split('\n').slice(-TAIL_LINES);
    return `--- end of the broker's log ---\n${lines.join('\n')}\n---`;
  }

  #spawn(command: readonly string[], log: number): ChildProcess {
    const [file, ...args] = [...this.via, ...command];
    return spawn(file!, args, { stdio: ['ignore', log, log], env: environment() });
  }

  #readyFile(): string {
    return join(this.folder, 'ready.json');
  }

  #allSettings(): Settings {
    return {
      role: 'broker',
      bindAddress: '127.0.0.1',
      listenPort: 0,
      adminPort: 0,
      brokerName: 'broker-a',
      storePathRootDir: this.storeDir,
      readyFile: this.#readyFile(),
      ...this.settings,
    };
  }
}

function describe({ code, signal }: Ending): string {
  return signal === null ? `exit code ${code}` : signal;
}

/** Nothing of the developer's own settings reaches the broker. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(MQKERNEL_|NAMESRV_ADDR$|ROCKETMQ_)/.test(name)),
  );
}
