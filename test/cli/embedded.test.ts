import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBroker } from '../../cli/embedded.js';
import { KernelError } from '../../kernel/base/errors.js';

function reaches(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect(Number(port), host, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

describe('mqkernel/embedded', () => {
  it('serves from memory on free loopback ports, and is gone after its scope', async () => {
    const addresses: string[] = [];
    {
      await using broker = await startBroker({ memory: true, port: 0 });
      addresses.push(broker.namesrvAddress, broker.brokerAddress);
      for (const address of addresses) {
        assert.match(address, /^127\.0\.0\.1:\d+$/);
        assert.equal(await reaches(address), true, address);
      }
      assert.equal(broker.options.memory, true);
    }
    for (const address of addresses) assert.equal(await reaches(address), false, address);
  });

  it('runs several brokers beside each other', async () => {
    await using first = await startBroker();
    await using second = await startBroker({ plugins: ['sql92'] });
    assert.notEqual(first.brokerAddress, second.brokerAddress);
    assert.notEqual(first.namesrvAddress, second.namesrvAddress);
  });

  it('keeps messages in a folder when it gets one', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'mqkernel-embedded-'));
    try {
      const broker = await startBroker({ storeDir: dir, options: { mappedFileSizeCommitLog: 1_048_576 } });
      await broker.stop();
      await broker.stop();
      assert.equal(existsSync(join(dir, 'commitlog')), true);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('throws what is wrong, and leaves nothing running', async () => {
    const wrong = (code: string) => (error: unknown) => error instanceof KernelError && error.code === code;
    await assert.rejects(startBroker({ plugins: ['sql93'] }), wrong('PLUGIN_UNKNOWN'));
    await assert.rejects(startBroker({ port: -1 }), wrong('OPTION_INVALID'));
    await assert.rejects(startBroker({ options: { listenPrt: 1 } as object }), wrong('OPTION_UNKNOWN'));
    await using other = await startBroker();
    const port = Number(other.brokerAddress.split(':')[1]);
    await assert.rejects(startBroker({ port }), wrong('PORT_IN_USE'));
  });
});
