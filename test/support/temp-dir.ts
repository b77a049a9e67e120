import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of its own for one test; `using` removes it. */
export function tempDir(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'mqkernel-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
