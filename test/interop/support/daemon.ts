import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { until } from '../../support/until.js';

const stopDeadlineMs = 30_000;
const tailLines = 40;

/** Children that still run; they end with this process, also when it is told to end. */
const running = new Set<ChildProcess>();
process.on('exit', killAll);
for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    killAll();
    process.kill(process.pid, signal);
  });
}

function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** A child process of the suite. What it prints goes to files, whose ends explain a failure. */
export class Daemon {
  readonly child: ChildProcess;
  private ended: string | undefined;

  /** `stdio` is 'log' (both streams into the log file) or 'lines' (stdin and stdout are ours, stderr into the file). */
  constructor(
    readonly label: string,
    command: string,
    args: readonly string[],
    private readonly logFiles: readonly [string, ...string[]],
    options: { stdio: 'log' | 'lines'; env?: Record<string, string> },
  ) {
    const log = openSync(logFiles[0], 'a');
    const stdio: StdioOptions = options.stdio === 'log' ? ['ignore', log, log] : ['pipe', 'pipe', log];
    this.child = spawn(command, args, { stdio, env: { ...process.env, ...options.env } });
    closeSync(log);
    running.add(this.child);
    this.child.once('error', (error) => this.markEnded(`could not be started: ${error.message}`));
    this.child.once('exit', (code, signal) => this.markEnded(`ended with ${signal ?? `exit code ${code}`}`));
  }

  private markEnded(how: string): void {
    this.ended ??= how;
    running.delete(this.child);
  }

  /** How the process ended, or undefined while it runs. */
  get end(): string | undefined {
    return this.ended;
  }

  /** Waits until the process has come so far; fails with the end of its log when it dies or takes too long. */
  async reach(condition: () => boolean, what: string, deadlineMs: number): Promise<void> {
    try {
      await until(() => this.ended !== undefined || condition(), what, deadlineMs);
    } catch (error) {
      throw new Error(`${this.label}: ${String(error)}\n${this.logTail()}`);
    }
    if (this.ended !== undefined && !condition()) {
      throw new Error(`${this.label} ${this.ended} instead of: ${what}\n${this.logTail()}`);
    }
  }

  /** SIGTERM, then waits for the end; a process that stays is killed and reported. */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    try {
      await until(() => this.ended !== undefined, `${this.label} ends after SIGTERM`, stopDeadlineMs);
    } catch (error) {
      await this.kill9();
      throw error;
    }
  }

  async kill9(): Promise<void> {
    this.child.kill('SIGKILL');
    await until(() => this.ended !== undefined, `${this.label} ends after SIGKILL`, stopDeadlineMs);
  }

  log(): string {
    return this.logFiles.map(textOf).join('');
  }

  logTail(): string {
    const part = (file: string): string => textOf(file).trimEnd().split('\n').slice(-tailLines).join('\n');
    const texts = this.logFiles.map(part).filter((text) => text !== '');
    return `--- ${this.label}, end of its log ---\n${texts.join('\n---\n')}\n--- end of ${this.label} ---`;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
