import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { until } from './until.js';

export interface CommandResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const command = fileURLToPath(new URL('../../cli/kernel.js', import.meta.url));

/** The environment of a command: nothing of the developer's own settings reaches it. */
function environment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(MQKERNEL_|NAMESRV_ADDR$|ROCKETMQ_)/.test(name));
  return { ...Object.fromEntries(own), ...extra };
}

/** Runs `kernel …` to its end. */
export async function runKernel(
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const child = spawn(process.execPath, [command, ...args], {
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collect(child);
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, ...output() };
}

/** A `kernel …` that runs until it is stopped. */
export class KernelProcess {
  readonly #child: ChildProcess;
  readonly #output: () => { stdout: string; stderr: string };
  readonly #ended: Promise<unknown>;

  constructor(args: readonly string[], env?: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, [command, ...args], {
      env: environment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#output = collect(this.#child);
    this.#ended = once(this.#child, 'close');
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get stdout(): string {
    return this.#output().stdout;
  }

  get stderr(): string {
    return this.#output().stderr;
  }

  /** What the ready file holds, once it is there. */
  async ready(path: string): Promise<{ pid: number; namesrv?: string; broker?: string }> {
    const end = (): number | string | null => this.#child.exitCode ?? this.#child.signalCode;
    await until(() => existsSync(path) || end() !== null, 'ready file', 15_000);
    if (!existsSync(path)) throw new Error(`the command ended with ${end()}: ${this.stderr}`);
    return JSON.parse(readFileSync(path, 'utf8')) as { pid: number };
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Exit code, or the signal that ended it. */
  async end(): Promise<number | NodeJS.Signals | null> {
    await this.#ended;
    return this.#child.exitCode ?? this.#child.signalCode;
  }
}

function collect(child: ChildProcess): () => { stdout: string; stderr: string } {
  let stdout = '';
  let stderr = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return () => ({ stdout, stderr });
}
