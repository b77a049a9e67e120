import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../../../config/options.js';
import { Kernel } from '../../../kernel/kernel.js';
import type { PluginManifest } from '../../../kernel/plugin.js';
import { systemClock } from '../../../kernel/base/clock.js';
import { LogReader, StoreState } from '../../../plugins/commitlog/contract.js';
import { Offsets } from '../../../plugins/offsets/contract.js';
import { manifest } from '../../../plugins/offsets/index.js';
import { OffsetHandlers } from '../../../plugins/offsets/offset-handlers.js';
import { OffsetTable } from '../../../plugins/offsets/offset-table.js';
import { OffsetsFile } from '../../../plugins/offsets/offsets-file.js';
import { encodeOffsets } from '../../../plugins/offsets/offsets-json.js';
import { RequestRouter } from '../../../plugins/remoting/contract.js';
import { Queues, type QueueEntry } from '../../../plugins/reput/contract.js';
import { decodeConsumerOffsetTable } from '../../../protocol/bodies/consumer-offset.js';
import { defaultOptions } from '../../support/default-options.js';
import { FakeClock } from '../../support/fake-clock.js';
import { bodyOf, FakeConnection, FakeRouter } from '../../support/fake-connection.js';
import { localPool } from '../../support/local-pool.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const MEMORY = 16 * 2 ** 30;

/** As written by 4.9.7 (ConsumerOffsetManager#encode(true) and #encode()). */
const javaPretty = `{
	"offsetTable":{
		"%RETRY%G@G":{0:0
		},
		"T@G":{0:12,1:9007199254740993
		}
	}
}`;
const javaCompact = '{"offsetTable":{"%RETRY%G@G":{0:0},"T@G":{0:12,1:9007199254740993}}}';
const javaEmpty = `{
	"offsetTable":{}
}`;

/** One queue `T/0` whose minimum and first entry the test sets. */
class FakeStore {
  min = 0;
  first: QueueEntry | undefined;
  maxOffset = 0;
  readonly queues = {
    minOffset: () => this.min,
    entry: (_topic: string, _queueId: number, offset: number) => (offset === 0 ? this.first : undefined),
  } as unknown as Queues;
  readonly log: LogReader;

  constructor() {
    const maxOffset = (): number => this.maxOffset;
    this.log = {
      get maxOffset() {
        return maxOffset();
      },
    } as LogReader;
  }
}

function setUp(changes: Partial<Options> = {}) {
  const options = defaultOptions({ memory: true, totalMemoryBytes: MEMORY, ...changes });
  const logger = recordingLogger();
  const clock = new FakeClock();
  const table = new OffsetTable(clock, logger, new OffsetsFile(options, localPool, logger));
  const store = new FakeStore();
  const router = new FakeRouter();
  new OffsetHandlers(table, store.queues, store.log, options).register(router);
  return { table, store, router, logger, clock };
}

const commitFields = (more: Record<string, string> = {}): Record<string, string> => {
  return { consumerGroup: 'G', topic: 'T', queueId: '0', commitOffset: '12', ...more };
};
const noPause = (): Promise<void> => Promise.resolve();

describe('plugins/offsets: UPDATE_CONSUMER_OFFSET (15) and QUERY_CONSUMER_OFFSET (14)', () => {
  it('commit and query, per group, topic and queue', async () => {
    const { router, table } = setUp();
    assert.equal((await router.call(15, { ext: commitFields() })).code, 0);
    const reply = await router.call(14, { ext: commitFields() });
    assert.deepEqual([reply.code, reply.ext?.['offset']], [0, '12']);
    assert.deepEqual([table.query('G', 'T', 0), table.query('G', 'T', 1), table.query('H', 'T', 0)], [12, -1, -1]);
  });

  it('take a lower offset, with a warning, as resets need it', async () => {
    const { router, table, logger } = setUp();
    await router.call(15, { ext: commitFields() });
    assert.equal((await router.call(15, { ext: commitFields({ commitOffset: '3' }) })).code, 0);
    assert.equal(table.query('G', 'T', 0), 3);
    assert.equal(logger.lines.filter(({ level, fields }) => level === 'warn' && fields['before'] === 12).length, 1);
  });

  it('refuse what cannot be, naming it', async () => {
    const { router, table } = setUp();
    const wrong: readonly [fields: Record<string, string>, remark: RegExp][] = [
      [{ commitOffset: '-1' }, /commitOffset/],
      [{ commitOffset: '1e3' }, /commitOffset/],
      [{ queueId: '-1' }, /queueId/],
      [{ queueId: '65536' }, /queueId/],
      [{ queueId: '2147483648' }, /queueId/],
      [{ topic: '../../x' }, /topic/],
      [{ topic: '' }, /topic/],
      // B32
      [{ consumerGroup: '../../../../tmp/x' }, /group/],
      [{ consumerGroup: 'g/h' }, /group/],
      [{ consumerGroup: 'x'.repeat(121) }, /group/],
      [{ consumerGroup: 'x'.repeat(256) }, /group/],
    ];
    for (const [fields, remark] of wrong) {
      const reply = await router.call(15, { ext: commitFields(fields) });
      assert.equal(reply.code, 1, JSON.stringify(fields));
      assert.match(reply.remark ?? '', remark);
    }
    assert.equal((await table.encoded()).toString(), '{"offsetTable":{}}');
  });

  describe('first boot of a group, as in 4.9.7', () => {
    const memoryBytes = (MEMORY * 40) / 100;
    const first = (physicalOffset: number): QueueEntry => ({ physicalOffset, size: 100, tagsCode: 0n });
    const cases: readonly [what: string, store: Partial<FakeStore>, code: number][] = [
      ['an unknown or empty queue begins at 0', {}, 0],
      ['a queue from 0 on, near the tail, begins at 0', { first: first(0), maxOffset: 1e6 }, 0],
      ['the bound is the share of memory', { first: first(0), maxOffset: Math.floor(memoryBytes) }, 0],
      ['a first message beyond it is on disk: 22', { first: first(0), maxOffset: Math.ceil(memoryBytes) + 1 }, 22],
      ['a queue that lost its beginning: 22', { min: 1 }, 22],
    ];
    for (const [what, state, code] of cases) {
      it(what, async () => {
        const { router, store } = setUp();
        Object.assign(store, state);
        const reply = await router.call(14, { ext: commitFields() });
        assert.deepEqual([reply.code, reply.ext?.['offset']], [code, code === 0 ? '0' : undefined]);
      });
    }
  });
});

describe('plugins/offsets: the table', () => {
  it('answers by topic and by group, and forgets a group', () => {
    const { table } = setUp();
    table.commit('c', 'G', 'T', 0, 1);
    table.commit('c', 'G', 'T', 1, 2);
    table.commit('c', 'G', 'T2', 0, 3);
    table.commit('c', 'G2', 'T', 0, 4);
    assert.deepEqual(
      table.ofTopic('G', 'T'),
      new Map([
        [0, 1],
        [1, 2],
      ]),
    );
    assert.deepEqual(table.topicsOf('G'), ['T', 'T2']);
    assert.deepEqual(table.groupsOf('T'), ['G', 'G2']);
    table.deleteGroup('G');
    assert.deepEqual([table.topicsOf('G'), table.groupsOf('T'), table.groupsOf('T2')], [[], ['G2'], []]);
    assert.equal(table.query('G2', 'T', 0), 4);
  });

  it('logs a wrong commit once a second, however many come', () => {
    const { table, logger, clock } = setUp();
    for (let i = 0; i < 100; i++) table.commit('c', 'g/h', 'T', 0, i);
    assert.equal(logger.lines.length, 1);
    clock.advance(1000);
    table.commit('c', 'g/h', 'T', 0, 1);
    assert.equal(logger.lines.length, 2);
  });

  it('GET_ALL_CONSUMER_OFFSET (43) sends all of it', async () => {
    const { table, router } = setUp();
    table.commit('c', 'G', 'T', 0, 12);
    table.commit('c', 'G', '%RETRY%G', 3, 4);
    const all = decodeConsumerOffsetTable(bodyOf(await router.call(43)));
    assert.deepEqual(
      all,
      new Map([
        ['T@G', new Map([[0, 12]])],
        ['%RETRY%G@G', new Map([[3, 4]])],
      ]),
    );
  });
});

describe('plugins/offsets: consumerOffset.json', () => {
  const tree = new Map([
    ['%RETRY%G', new Map([['G', new Map([[0, 0]])]])],
    [
      'T',
      new Map([
        [
          'G',
          new Map([
            [0, 12],
            [1, 9007199254740992],
          ]),
        ],
      ]),
    ],
  ]);
  // A number holds 2^53 and not 2^53 + 1: the Java text with its last digit rounded.
  const rounded = (text: string): string => text.replace('9007199254740993', '9007199254740992');

  it("is byte for byte the original's, in its file and in its body", async () => {
    assert.equal(await encodeOffsets(tree, 'pretty', noPause), rounded(javaPretty));
    assert.equal(await encodeOffsets(tree, 'compact', noPause), rounded(javaCompact));
    assert.equal(await encodeOffsets(new Map(), 'pretty', noPause), javaEmpty);
  });

  it('of the original is read, whatever form its keys have; entries of another kind are left out', () => {
    using dir = tempDir();
    mkdirSync(join(dir.path, 'config'));
    const path = join(dir.path, 'config', 'consumerOffset.json');
    for (const text of [
      javaPretty,
      javaCompact,
      '{"offsetTable":{"T@G":{"0":12,"1":5},"%RETRY%G@G":{"0":0},"odd":{0:1},"a@b@c":{0:1}}}',
    ]) {
      writeFileSync(path, text);
      const { table } = setUp({ memory: false, storePathRootDir: dir.path, storePathCommitLog: join(dir.path, 'cl') });
      table.load();
      assert.deepEqual([table.query('G', 'T', 0), table.query('G', '%RETRY%G', 0)], [12, 0]);
      assert.deepEqual(table.topicsOf('G').sort(), ['%RETRY%G', 'T']);
    }
  });

  it('beyond what is left of a queue is set back to its end after an abnormal end, and only then', async () => {
    using dir = tempDir();
    const options = { storePathRootDir: dir.path };
    const abort = join(dir.path, 'abort');
    const life = async (work: (broker: TestBroker) => Promise<void>): Promise<void> => {
      await using broker = await testBroker({ options });
      await work(broker);
    };
    const stands = (broker: TestBroker): number[] =>
      ['T', 'gone'].map((topic) => broker.get(Offsets).query('G', topic, 0));
    await life(async (broker) => {
      using client = await broker.connect();
      for (let i = 0; i < 3; i++) await send(client, { topic: 'T' });
      for (const topic of ['T', 'gone']) broker.get(Offsets).commit('c', 'G', topic, 0, 9);
    });
    await life((broker) => Promise.resolve(assert.deepEqual(stands(broker), [9, 9])));
    writeFileSync(abort, '');
    await life((broker) => Promise.resolve(assert.deepEqual(stands(broker), [3, 9])));
    await life((broker) => Promise.resolve(assert.deepEqual(stands(broker), [3, 9])));
  });

  it('lets others run while a large table is encoded', async () => {
    const queues = new Map(Array.from({ length: 1000 }, (_, i) => [i, i]));
    const large = new Map([['T', new Map(Array.from({ length: 10 }, (_, i) => [`G${i}`, queues]))]]);
    let pauses = 0;
    await encodeOffsets(large, 'compact', async () => void pauses++);
    assert.equal(pauses, 5);
  });

  it('is written when something changed, and not otherwise', async () => {
    using dir = tempDir();
    const { table } = setUp({ memory: false, storePathRootDir: dir.path, storePathCommitLog: join(dir.path, 'cl') });
    const path = join(dir.path, 'config', 'consumerOffset.json');
    await table.persist();
    assert.throws(() => readFileSync(path));
    table.commit('c', 'G', 'T', 0, 1);
    await table.persist();
    assert.match(readFileSync(path, 'utf8'), /"T@G":\{0:1\n/);
    writeFileSync(path, 'untouched');
    await table.persist();
    assert.equal(readFileSync(path, 'utf8'), 'untouched');
    table.commit('c', 'G', 'T', 0, 2);
    await table.persist();
    assert.match(readFileSync(path, 'utf8'), /"T@G":\{0:2\n/);
  });
});

describe('plugins/offsets: the plugin in a kernel', () => {
  const neighbours = (router: FakeRouter, store: FakeStore): PluginManifest[] => {
    const provide = (name: string, ...tokens: [token: symbol, value: object][]): PluginManifest => ({
      name,
      needs: [],
      provides: tokens.map(([token]) => token),
      setup: (container) => tokens.forEach(([token, value]) => container.registerInstance(token, value)),
    });
    return [
      provide('remoting', [RequestRouter as symbol, router]),
      provide('commitlog', [LogReader as symbol, store.log], [StoreState as symbol, { recovered: false }]),
      provide('reput', [Queues as symbol, store.queues]),
    ];
  };

  it('writes by its interval through the pool, and at its stop', async () => {
    using dir = tempDir();
    const changes = {
      storePathRootDir: dir.path,
      storePathCommitLog: join(dir.path, 'cl'),
      flushConsumerOffsetInterval: 20,
    };
    const path = join(dir.path, 'config', 'consumerOffset.json');
    const router = new FakeRouter();
    const kernel = await Kernel.boot({
      plugins: [...neighbours(router, new FakeStore()), manifest],
      options: defaultOptions(changes),
      clock: systemClock,
      logger: recordingLogger(),
    });
    assert.deepEqual(router.codes, [14, 15, 43]);
    await router.call(15, { ext: commitFields(), connection: new FakeConnection() });
    const holds = (text: string): boolean => {
      try {
        return readFileSync(path, 'utf8').includes(text);
      } catch {
        return false;
      }
    };
    await until(() => holds('0:12'), 'the offset is on disk');
    kernel.get(Offsets).commit('c', 'G', 'T', 0, 99);
    await kernel.stop('test');
    assert.ok(holds('0:99'));
  });
});
