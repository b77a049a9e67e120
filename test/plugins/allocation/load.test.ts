import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KernelError } from '../../../kernel/base/errors.js';
import type { MessageQueue } from '../../../plugins/allocation/contract.js';
import { loadAllocationRule } from '../../../plugins/allocation/load.js';

/** A plugin as `defineAllocation` of another copy of the package makes it. */
const source = (name: string): string =>
  `export default { kind: 'allocation', name: '${name}', create: (options) => ({ name: '${name}' + options, allocate: () => [] }) };`;

describe('loading allocation rules', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mqkernel-load-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function write(path: string, text: string): void {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  const nameOf = async (spec: string): Promise<string> => (await loadAllocationRule(spec, folder)).name;

  async function failure(spec: string): Promise<KernelError> {
    const error: unknown = await loadAllocationRule(spec, folder).then(
      () => assert.fail(`${spec} was loaded`),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof KernelError);
    assert.equal(error.exitCode, 2);
    return error;
  }

  it('finds the built-in ones by name, with their options', async () => {
    for (const [spec, name] of [
      ['averagely', 'AVG'],
      ['circle', 'AVG_BY_CIRCLE'],
      ['config:T/b/0', 'CONFIG'],
      ['machine-room:east', 'MACHINE_ROOM'],
      ['machine-room-nearby:east=b', 'MACHINE_ROOM_NEARBY-AVG'],
      ['machine-room-nearby:consistent-hash:3;east=b,::1;west=c', 'MACHINE_ROOM_NEARBY-CONSISTENT_HASH'],
      ['consistent-hash', 'CONSISTENT_HASH'],
      ['consistent-hash:3', 'CONSISTENT_HASH'],
    ] as const)
      assert.equal(await nameOf(spec), name, spec);
  });

  it('finds a file, a folder, a folder with a main file and a package, with and without options', async () => {
    write('package.json', '{"type":"module"}');
    write('mine.mjs', source('mine'));
    write('a:b.mjs', source('colon'));
    write('own/index.js', source('own'));
    write('built/package.json', '{"type":"module","main":"dist/rule.js"}');
    write('built/dist/rule.js', source('built'));
    write('node_modules/@me/rule/package.json', '{"name":"@me/rule","type":"module","exports":"./main.js"}');
    write('node_modules/@me/rule/main.js', source('packed'));
    for (const [spec, name] of [
      ['mine.mjs', 'mine'],
      ['./mine.mjs:5', 'mine5'],
      [`${join(folder, 'mine.mjs')}:a:b`, 'minea:b'],
      ['./a:b.mjs', 'colon'],
      ['own', 'own'],
      ['./built', 'built'],
      ['@me/rule', 'packed'],
      ['@me/rule:x', 'packedx'],
    ] as const)
      assert.equal(await nameOf(spec), name, spec);
  });

  it('says what can be had when there is nothing of that name', async () => {
    const error = await failure('hash');
    assert.equal(error.code, 'PLUGIN_UNKNOWN');
    assert.match(error.line(), /averagely, circle, config, machine-room, machine-room-nearby, consistent-hash;/);
  });

  it('names a module that is no allocation plugin', async () => {
    write('filter.mjs', source('x').replace("'allocation'", "'filter'"));
    write('rule.mjs', "export default { kind: 'allocation', name: 'x', rule: {} };");
    write('nameless.mjs', source(''));
    for (const [spec, why] of [
      ['filter.mjs', /no allocation plugin, but one of kind filter/],
      ['rule.mjs', /no function create/],
      ['nameless.mjs', /name must be/],
    ] as const) {
      // prettier-ignore
      const error = await failure(spec);
      assert.equal(error.code, 'PLUGIN_INVALID');
      assert.match(error.line(), why);
      assert.match(error.remedy ?? '', /defineAllocation/);
    }
  });

  it('says what is wrong with options', async () => {
    write('shapeless.mjs', source('x').replace('allocate:', 'divide:'));
    for (const [spec, why] of [
      ['circle:2', /circle takes no options/],
      ['consistent-hash:many', /"many" is no number of virtual nodes/],
      ['consistent-hash:0', /virtual nodes are 0, not/],
      ['config', /"" is no queue: write TOPIC/],
      ['config:T/b/0,T/b', /"T\/b" is no queue/],
      ['config:T/b/3-1', /"T\/b\/3-1" is no range/],
      ['config:T/b/0-65536', /no range of queues within 0 … 65535/],
      ['config:T/b/0-3,T/b/3', /queue T\/b\/3 is given twice/],
      ['machine-room', /write the machine rooms/],
      ['machine-room:a,,b', /write the machine rooms/],
      ['machine-room-nearby', /"" is neither ROOM=PREFIX/],
      ['machine-room-nearby:config;a=b', /"config" is neither .* \(averagely, circle, consistent-hash\)/],
      ['machine-room-nearby:circle', /write the machine rooms behind the rule/],
      ['machine-room-nearby:a=b;c', /"c" is not ROOM=PREFIX,PREFIX/],
      ['machine-room-nearby:a=b,', /"a=b," is not ROOM=PREFIX,PREFIX/],
      ['shapeless.mjs', /rule\.allocate must be a function/],
    ] as const) {
      // prettier-ignore
      const error = await failure(spec);
      assert.equal(error.code, 'PLUGIN_OPTIONS');
      assert.match(error.message, why);
      assert.ok(error.message.includes(spec), error.message);
    }
  });

  it('config takes ranges, brokers with slashes, and nothing that the topic has not', async () => {
    const rule = await loadAllocationRule('config:T/b/2-4, T/a/b/7 ,%RETRY%G/b/0,T/gone/1', folder);
    const queues: MessageQueue[] = ['b', 'a/b'].flatMap((brokerName) =>
      Array.from({ length: 9 }, (_, queueId) => ({ topic: 'T', brokerName, queueId })),
    );
    const taken = rule.allocate('G', 'c', queues, ['c']);
    assert.deepEqual(
      taken.map((queue) => queues.indexOf(queue)),
      [2, 3, 4, 9 + 7],
    );
  });

  it('machine-room-nearby goes by the longest beginning, and names what has no room', async () => {
    const rule = await loadAllocationRule('machine-room-nearby:east=b,10.;west=b2,10.2.', folder);
    const queues = ['b1', 'b2'].map((brokerName) => ({ topic: 'T', brokerName, queueId: 0 }));
    const ids = ['10.1.0.1@1', '10.2.0.1@1'];
    assert.deepEqual(
      ids.map((id) => rule.allocate('G', id, queues, ids)),
      [[queues[0]], [queues[1]]],
    );
    const ask = (brokerName: string, id: string) => () =>
      rule.allocate('G', id, [{ topic: 'T', brokerName, queueId: 0 }], [id]);
    assert.throws(ask('b1', '9.0.0.1@1'), /in which machine room client 9\.0\.0\.1@1 is/);
    assert.throws(ask('a', '10.0.0.1@1'), /in which machine room broker a is/);
  });
});
