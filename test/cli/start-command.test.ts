import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { thisMachine } from '../../config/machine.js';
import { KernelProcess, runKernel } from '../support/kernel-command.js';

const LOCAL = ['--bind', '127.0.0.1', '--listen-port', '0', '--namesrv-port', '0'];

describe('kernel start', () => {
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'mqkernel-start-'))));
  afterEach(() => rmSync(dir, { recursive: true }));

  describe('refuses with one line and leaves nothing behind:', () => {
    async function refusal(exitCode: number, pattern: RegExp, args: readonly string[]): Promise<void> {
      const store = join(dir, 'store');
      const ready = join(dir, 'ready.json');
      const result = await runKernel(['start', ...LOCAL, '--store', store, '--ready-file', ready, ...args]);
      assert.equal(result.exitCode, exitCode, result.stderr);
      assert.match(result.stderr, pattern);
      assert.equal(result.stderr.trimEnd().split('\n').length, 1, result.stderr);
      assert.equal(result.stdout, '');
      assert.deepEqual(
        readdirSync(dir).filter((name) => name !== 'file'),
        [],
      );
    }

    it('an unknown plugin', () => refusal(2, /^PLUGIN_UNKNOWN: no plugin sql93/, ['--plugins', 'sql93']));

    it('two filter plugins for one expression type', () =>
      refusal(2, /^FILTER_TAKEN: filter plugin prefix \(PREFIX\) collides with prefix \(PREFIX\) \(load only one/, [
        '--plugins',
        './examples/filter-prefix/index.js,./examples/filter-prefix',
      ]));

    it('an unknown option', () => refusal(2, /^OPTION_UNKNOWN: .*did you mean brokerName\?/, ['--set', 'brokrName=x']));

    it('a wrong value', () => refusal(2, /^OPTION_INVALID: listenPort \(--listen-port\)/, ['--listen-port', 'x']));

    it('a settings file that is missing', () =>
      refusal(2, /^CONFIG_FILE: .*no such file/, ['-c', join(dir, 'none.conf')]));

    it('an unknown topology', () => refusal(2, /^TOPOLOGY_INVALID: .*did you mean paired\?/, ['--topology', 'pared']));

    it('a store below a file', async () => {
      writeFileSync(join(dir, 'file'), '');
      await refusal(1, /^STORE_UNWRITABLE: storePathRootDir .*it is not a folder/, [
        '--store',
        join(dir, 'file', 'store'),
      ]);
    });

    it('a port in use', async () => {
      const server = await listening();
      try {
        const { port } = server.address() as { port: number };
        await refusal(1, /^PORT_IN_USE: the name server cannot listen on 127\.0\.0\.1 port \d+ \(namesrvListenPort\)/, [
          '--namesrv-port',
          String(port),
        ]);
      } finally {
        server.close();
      }
    });
  });

  it('serves until SIGTERM: ready file while it serves, exit code 0, ports free again', async () => {
    const ready = join(dir, 'ready.json');
    const kernel = new KernelProcess(['start', '--role', 'namesrv', ...LOCAL, '--ready-file', ready]);
    const addresses = await kernel.ready(ready);
    assert.deepEqual(Object.keys(addresses), ['pid', 'namesrv']);
    assert.equal(addresses.pid, kernel.pid);
    const port = Number(/^127\.0\.0\.1:(\d+)$/.exec(addresses.namesrv!)![1]);
    assert.equal(await thisMachine.isPortFree(port, '127.0.0.1'), false);
    kernel.signal('SIGTERM');
    assert.equal(await kernel.end(), 0);
    assert.match(kernel.stdout, /^kernel .*ms\n(.*\n)*.*── routes/);
    assert.match(kernel.stdout, new RegExp(`^name server +127\\.0\\.0\\.1:${port}$`, 'm'));
    assert.equal(existsSync(ready), false);
    assert.equal(await thisMachine.isPortFree(port, '127.0.0.1'), true);
  });

  it('serves with a store that it leaves closed and unlocked: the next start takes it', async () => {
    for (const round of [1, 2]) {
      const ready = join(dir, `ready-${round}.json`);
      const kernel = new KernelProcess(['start', ...LOCAL, '--store', join(dir, 'store'), '--ready-file', ready]);
      const { namesrv, broker } = await kernel.ready(ready);
      kernel.signal('SIGINT');
      assert.equal(await kernel.end(), 0, kernel.stderr);
      assert.match(kernel.stdout, new RegExp(`^name server +${namesrv}\nbroker +${broker} `, 'm'));
      assert.equal(existsSync(join(dir, 'store', 'abort')), false);
    }
  });

  it('runs in memory as kernel dev, for this machine only', async () => {
    const ready = join(dir, 'ready.json');
    const kernel = new KernelProcess(['dev', ...LOCAL.slice(2), '--ready-file', ready], { HOME: dir });
    const { namesrv, broker } = await kernel.ready(ready);
    assert.match(`${namesrv} ${broker}`, /^127\.0\.0\.1:\d+ 127\.0\.0\.1:\d+$/);
    kernel.signal('SIGTERM');
    assert.equal(await kernel.end(), 0, kernel.stderr);
    assert.match(kernel.stdout, /^store +in memory, gone at the end\nplugins +sql92$/m);
    assert.deepEqual(readdirSync(dir), []);
  });

  it('stops again when the ready file cannot be written', async () => {
    writeFileSync(join(dir, 'file'), '');
    const args = [
      'start',
      '--role',
      'namesrv',
      ...LOCAL,
      '--log-level',
      'silent',
      '--ready-file',
      join(dir, 'file', 'x'),
    ];
    const { exitCode, stderr } = await runKernel(args);
    assert.equal(exitCode, 1);
    assert.match(stderr, /^READY_FILE: /);
  });

  it('says which flag was meant', async () => {
    const { exitCode, stderr } = await runKernel(['start', '--listen-prot', '1']);
    assert.equal(exitCode, 2);
    assert.match(stderr, /unknown option '--listen-prot'\n\(Did you mean --listen-port\?\)/);
  });

  it('knows its commands', async () => {
    const help = await runKernel(['--help']);
    assert.equal(help.exitCode, 0);
    for (const command of ['start', 'dev', 'config', 'produce', 'consume', 'bench', 'store'])
      assert.match(help.stdout, new RegExp(`^ +${command} `, 'm'));
    assert.match(help.stdout, /70 +the thread/);
    const wrong = await runKernel(['strat']);
    assert.equal(wrong.exitCode, 2);
    assert.match(wrong.stderr, /Did you mean start\?/);
  });

  async function listening(): Promise<Server> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  }
});
