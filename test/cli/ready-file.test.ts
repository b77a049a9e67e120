import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeReadyFile, writeReadyFile } from '../../cli/ready-file.js';
import { startServer } from '../../cli/server.js';
import { loadOptions } from '../../config/load.js';
import { KernelError } from '../../kernel/base/errors.js';

describe('cli/ready-file', () => {
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'mqkernel-ready-'))));
  afterEach(() => rmSync(dir, { recursive: true }));

  it('holds the addresses, and nothing else is left in the folder', () => {
    const path = join(dir, 'a', 'ready.json');
    writeReadyFile(path, { namesrv: '127.0.0.1:9876', broker: '127.0.0.1:10911' });
    assert.equal(
      readFileSync(path, 'utf8'),
      `{"pid":${process.pid},"namesrv":"127.0.0.1:9876","broker":"127.0.0.1:10911"}\n`,
    );
    assert.deepEqual(readdirSync(join(dir, 'a')), ['ready.json']);
    removeReadyFile(path);
    assert.equal(existsSync(path), false);
    removeReadyFile(path);
  });

  it('is written once the server is ready for a signal', async () => {
    const readyFile = join(dir, 'ready.json');
    const values = { role: 'namesrv', bindAddress: '127.0.0.1', namesrvListenPort: '0', logLevel: 'silent', readyFile };
    const loaded = await loadOptions({
      assignments: Object.entries(values).map(([name, raw]) => ({ name, raw, where: name })),
    });
    const seen: boolean[] = [];
    const server = await startServer(loaded, { onServing: () => void seen.push(existsSync(readyFile)) });
    assert.deepEqual([...seen, existsSync(readyFile)], [false, true]);
    await server.stop('end of the test');
    assert.equal(existsSync(readyFile), false);
  });

  it("leaves another process's file alone", () => {
    const path = join(dir, 'ready.json');
    writeFileSync(path, `{"pid":${process.pid + 1}}`);
    removeReadyFile(path);
    assert.equal(existsSync(path), true);
  });

  it('names the file that cannot be written', () => {
    writeFileSync(join(dir, 'file'), '');
    assert.throws(
      () => writeReadyFile(join(dir, 'file', 'ready.json'), {}),
      (error: unknown) =>
        error instanceof KernelError && error.code === 'READY_FILE' && error.message.includes('ready.json'),
    );
  });
});
