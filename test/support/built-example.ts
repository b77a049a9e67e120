import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** A copy of an example in TypeScript, built as its user builds it: with this package installed beside it. */
export class BuiltExample implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'mqkernel-example-'));

  static async of(name: string): Promise<BuiltExample> {
    const example = new BuiltExample();
    const modules = join(process.cwd(), 'node_modules');
    const skipped = /[\\/](node_modules|dist)$/;
    cpSync(join('examples', name), example.path, { recursive: true, filter: (file) => !skipped.test(file) });
    mkdirSync(join(example.path, 'node_modules'));
    symlinkSync(process.cwd(), join(example.path, 'node_modules', 'mqkernel'), 'junction');
    symlinkSync(join(modules, '@types'), join(example.path, 'node_modules', '@types'), 'junction');
    await example.#run(join(modules, 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.json');
    return example;
  }

  /** Runs its own test; fails with what that printed. */
  test(): Promise<void> {
    return this.#run('dist/index.test.js');
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  async #run(...args: string[]): Promise<void> {
    try {
      await execute(process.execPath, args, { cwd: this.path });
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new Error(`${args.join(' ')} failed in the example: ${stdout}${stderr}`, { cause: error });
    }
  }
}
