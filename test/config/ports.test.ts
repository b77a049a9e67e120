import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { KernelError } from '../../kernel/base/errors.js';
import { thisMachine } from '../../config/machine.js';
import { choosePorts, type PortWishes } from '../../config/ports.js';
import { testMachine } from './machine.js';

const wishes: PortWishes = {
  role: 'all',
  bindAddress: '127.0.0.1',
  listenPort: 10_911,
  fastListenPort: 0,
  adminPort: 0,
  namesrvListenPort: 9876,
};

describe('config/ports', () => {
  it('derives the fast, replication and admin port as the original does', async () => {
    assert.deepEqual(await choosePorts(wishes, testMachine()), {
      listenPort: 10_911,
      fastListenPort: 10_909,
      haListenPort: 10_912,
      adminPort: 10_921,
      namesrvListenPort: 9876,
    });
  });

  it('keeps a fast and an admin port that were set', async () => {
    const ports = await choosePorts({ ...wishes, fastListenPort: 7001, adminPort: 7002 }, testMachine());
    assert.equal(ports.fastListenPort, 7001);
    assert.equal(ports.adminPort, 7002);
  });

  it('does not probe ports that were named', async () => {
    const machine = testMachine({ isPortFree: async () => assert.fail('probed') });
    await choosePorts(wishes, machine);
  });

  it('takes a port for which all derived ones are free', async () => {
    const rolls = [0, 0.25, 0.5, 0.75];
    const busy = new Set([20_000 + 1, 23_000 - 2, 26_000 + 10]);
    const asked: string[] = [];
    const machine = testMachine({
      random: () => rolls.shift()!,
      isPortFree: async (port, host) => {
        asked.push(host);
        return !busy.has(port);
      },
    });
    const ports = await choosePorts({ ...wishes, listenPort: 0 }, machine);
    assert.equal(ports.listenPort, 29_000);
    assert.equal(ports.fastListenPort, 28_998);
    assert.equal(ports.haListenPort, 29_001);
    assert.equal(ports.adminPort, 29_010);
    assert.deepEqual([...new Set(asked)], ['127.0.0.1']);
  });

  it('keeps the ports of both servers apart when both are free to choose', async () => {
    const rolls = [0.5, 0.5, 0.50021, 0.75];
    const ports = await choosePorts(
      { ...wishes, listenPort: 0, namesrvListenPort: 0 },
      testMachine({ random: () => rolls.shift()! }),
    );
    assert.equal(ports.listenPort, 26_000);
    assert.equal(ports.namesrvListenPort, 26_002);
  });

  it('says so when nothing is free', async () => {
    await assert.rejects(
      choosePorts({ ...wishes, listenPort: 0 }, testMachine({ isPortFree: async () => false })),
      (error: unknown) => error instanceof KernelError && error.code === 'NO_FREE_PORT' && error.exitCode === 1,
    );
  });

  for (const [what, wrong] of [
    ['two ports that are the same', { ...wishes, namesrvListenPort: 10_909 }],
    ['a derived port below 1', { ...wishes, listenPort: 2 }],
    ['a derived port above 65535', { ...wishes, listenPort: 65_530 }],
  ] as const) {
    it(`refuses ${what}`, async () => {
      await assert.rejects(
        choosePorts(wrong, testMachine()),
        (error: unknown) => error instanceof KernelError && error.exitCode === 2 && error.code === 'PORTS_INVALID',
      );
    });
  }

  it('leaves broker ports alone for a name server', async () => {
    const ports = await choosePorts({ ...wishes, role: 'namesrv', listenPort: 0, namesrvListenPort: 0 }, testMachine());
    assert.equal(ports.namesrvListenPort, 26_000);
  });

  it('probes the real machine by binding', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    assert.equal(await thisMachine.isPortFree(port, '127.0.0.1'), false);
    await new Promise((resolve) => server.close(resolve));
    assert.equal(await thisMachine.isPortFree(port, '127.0.0.1'), true);
  });
});
