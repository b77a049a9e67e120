import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeKVTable } from '../../../protocol/bodies/kv-table.js';
import { RequestCode } from '../../../protocol/codes.js';
import { KernelProcess } from '../../support/kernel-command.js';
import { RawClient } from '../../support/raw-client.js';
import { pull, pullAll, send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { until } from '../../support/until.js';

/** Matches everything, but a message with the property `stop` only when the file that it names is there: until then it spins. */
const spinning = `
  import { existsSync } from 'node:fs';
  export default {
    kind: 'filter',
    name: 'spinner',
    rule: {
      expressionType: 'SPIN',
      compile: () => ({
        matches(properties) {
          const file = properties.get('stop');
          while (file !== undefined && !existsSync(file));
          return true;
        },
      }),
    },
  };`;

describe('a filter plugin that blocks its thread', () => {
  for (const store of ['memory', 'disk'])
    it(`is named while it does and counted afterwards; others go on then (${store})`, async () => {
      using dir = tempDir();
      const [plugin, ready, stop] = ['spin.mjs', 'ready.json', 'stop'].map((name) => join(dir.path, name));
      writeFileSync(plugin!, spinning);
      const place = store === 'memory' ? ['--memory'] : ['--store', join(dir.path, 'store'), '--topology', 'fused'];
      const ports = ['--bind', '127.0.0.1', '--listen-port', '0', '--namesrv-port', '0'];
      const kernel = new KernelProcess(['start', ...ports, ...place, '--plugins', plugin!, '--ready-file', ready!]);
      try {
        const { broker } = await kernel.ready(ready!);
        using client = await RawClient.connect(broker!);
        await send(client, { body: Buffer.from('calm') });
        await send(client, { properties: `stop\u0001${stop}` });
        await pullAll(client, 2);

        const spin = pull(client, { expressionType: 'SPIN', subscription: 'round and round' });
        const line = /"msg":"filter plugin spinner with the expression round and round blocks thread 'main'/;
        await until(() => line.test(kernel.stderr), 'the watchdog names it', 10_000);
        writeFileSync(stop!, '');
        assert.equal((await spin).messages.length, 2);

        assert.match(kernel.stderr, /"plugin":"spinner".*"msg":"a filter plugin has blocked its thread"/);
        const { body } = await client.ask(RequestCode.GET_BROKER_RUNTIME_INFO);
        assert.equal(decodeKVTable(body).get('kernel.filterBlocks'), 'spinner=1');
        assert.equal((await pull(client)).messages.length, 2, 'others go on');
      } finally {
        writeFileSync(stop!, '');
        kernel.signal('SIGTERM');
        assert.equal(await kernel.end(), 0);
      }
    });
});
