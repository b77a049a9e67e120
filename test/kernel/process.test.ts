import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.js';

const childPath = fileURLToPath(new URL('../support/kernel-child.js', import.meta.url));

/** A process with a kernel in it, what it printed, and how it ended. */
class KernelProcess {
  readonly #child: ChildProcess;
  output = '';
  errors = '';
  ended: [code: number | null, signal: NodeJS.Signals | null] | undefined;

  constructor(mode: string) {
    this.#child = spawn(process.execPath, [childPath, mode], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.#child.on('close', (code, signal) => (this.ended = [code, signal]));
  }

  said(line: string): Promise<void> {
    return until(
      () => this.output.includes(`${line}\n`) || this.fail(`no line '${line}'`),
      `the line '${line}'`,
      15_000,
    );
  }

  async end(): Promise<[code: number | null, signal: NodeJS.Signals | null]> {
    await until(() => this.ended !== undefined, `the end; it printed:\n${this.output}${this.errors}`, 15_000);
    return this.ended!;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  destroy(): void {
    if (this.ended === undefined) this.#child.kill('SIGKILL');
  }

  private fail(what: string): false {
    if (this.ended !== undefined) assert.fail(`${what}; the process ended with ${this.ended}: ${this.errors}`);
    return false;
  }
}

describe('a process with a kernel', function () {
  this.timeout(40_000);
  let child: KernelProcess;
  afterEach(() => child.destroy());

  const start = async (mode: string): Promise<void> => {
    child = new KernelProcess(mode);
    await child.said('up');
  };

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`stops on ${signal} and exits 0`, async () => {
      await start('plain');
      child.signal(signal);
      assert.deepEqual(await child.end(), [0, null]);
      assert.equal(child.output, 'up\nclose\nstop\n');
    });
  }

  it('exits 1 when a plugin fails to stop', async () => {
    await start('failingStop');
    child.signal('SIGTERM');
    assert.deepEqual(await child.end(), [1, null]);
  });

  it('exits with the code for forced on a second signal, whatever the stop waits for', async () => {
    await start('slowStop');
    child.signal('SIGTERM');
    await child.said('stop');
    child.signal('SIGINT');
    assert.deepEqual(await child.end(), [71, null]);
  });

  it('kills itself on a second signal when a thread is stuck', async () => {
    await start('stuck');
    child.signal('SIGTERM');
    await child.said('stop');
    child.signal('SIGTERM');
    assert.deepEqual(await child.end(), [null, 'SIGKILL']);
  });

  it('ends with the code for a dead worker', async () => {
    await start('die');
    assert.deepEqual(await child.end(), [70, null]);
  });

  it('is killed when a thread hangs', async () => {
    await start('hang');
    assert.deepEqual(await child.end(), [null, 'SIGKILL']);
  });

  it('leaves nothing behind after a stop that would keep the process up', async () => {
    await start('stop');
    await child.said('closed 1');
    assert.deepEqual(await child.end(), [0, null]);
  });
});
