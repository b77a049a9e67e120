import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { messageOf } from '../../kernel/base/errors.js';
import { ResponseCode } from '../../protocol/codes.js';
import { RawClient } from '../support/raw-client.js';
import { pullAll, send } from '../support/send-pull.js';
import { until } from '../support/until.js';
import type { BrokerProcess } from './support/broker-process.js';
import { chaosTest, createTopic, type Scene } from './support/scene.js';

const FIRST = 20;
const LIMIT_MS = 20_000;
const bodyOf = (index: number): Buffer => Buffer.from(`message ${index}`);
/** Neither says that the message is safe. */
const notStored: readonly number[] = [ResponseCode.FLUSH_DISK_TIMEOUT, ResponseCode.SERVICE_NOT_AVAILABLE];

describe('a sync that the system answers with EIO (libfiu)', () => {
  before(function () {
    try {
      execFileSync('fiu-run', ['-x', 'true'], { stdio: 'pipe' });
    } catch (error) {
      process.stderr.write(`    skipped: fiu-run of the package fiu-utils cannot run here (${messageOf(error)})\n`);
      this.skip();
    }
  });

  chaosTest('is never acknowledged; the log is read-only until a restart, and nothing is lost (B01)', failedSync);
});

async function failedSync(scene: Scene): Promise<void> {
  const fifo = join(scene.folder(), 'fiu');
  const broker = scene.broker({ flushDiskType: 'SYNC_FLUSH' });
  broker.via = ['env', 'UV_USE_IO_URING=0', 'fiu-run', '-x', '-f', fifo];
  await broker.start();
  await createTopic(broker.port, 'T', 1);
  {
    using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
    for (let i = 0; i < FIRST; i++) assert.equal((await send(client, { body: bodyOf(i) })).code, 0);
    tell(fifo, broker, 'enable name=posix/io/sync/fdatasync,failinfo=5');
    const doubtful = await send(client, { body: bodyOf(FIRST) });
    assert.ok(notStored.includes(doubtful.code), `answered ${doubtful.code} ${doubtful.remark}`);
    tell(fifo, broker, 'disable name=posix/io/sync/fdatasync');
    for (let i = 0; i < 20; i++) {
      const { code, remark } = await send(client, { body: bodyOf(-1) });
      assert.equal(code, ResponseCode.SERVICE_NOT_AVAILABLE, `answered ${code} ${remark} after a failed sync`);
    }
    const readable = await pullAll(client, FIRST);
    assert.deepEqual(
      readable.map(({ body }) => body.toString()),
      Array.from({ length: FIRST }, (_, i) => bodyOf(i).toString()),
    );
  }
  await broker.kill9();
  broker.via = [];
  await broker.start();
  assert.match(broker.logOfThisStart(), /a sync of the log had failed: its records .* were written once more/);
  await afterRestart(broker);
}

/** All that were acknowledged, perhaps the doubtful one behind them, and sends succeed again. */
async function afterRestart(broker: BrokerProcess): Promise<void> {
  using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
  const again = await send(client, { body: Buffer.from('again') });
  assert.equal(again.code, ResponseCode.SUCCESS);
  const { queueOffset } = again.header;
  assert.ok(queueOffset === FIRST || queueOffset === FIRST + 1, `the next message got offset ${queueOffset}`);
  await until(async () => (await pullAll(client, queueOffset + 1)).length > 0, 'all are visible', LIMIT_MS);
  const bodies = (await pullAll(client, queueOffset + 1)).map(({ body }) => body.toString());
  for (let i = 0; i < FIRST; i++) assert.equal(bodies[i], bodyOf(i).toString());
}

function tell(fifo: string, broker: BrokerProcess, command: string): void {
  execFileSync('fiu-ctrl', ['-f', fifo, '-c', command, String(broker.pid)], { stdio: 'pipe', timeout: LIMIT_MS });
}
