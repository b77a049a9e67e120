import assert from 'node:assert/strict';
import { QueueWord } from '../../../kernel/ring/queue-table.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { CallBoard } from '../../../kernel/ring/call-board.js';
import { filterThread, type KnownFilter } from '../../../plugins/filter/compiler.js';
import { FilterCounts } from '../../../plugins/filter/counts.js';
import { sql92Rule } from '../../../plugins/filter/sql92/rule.js';
import { tagRule } from '../../../plugins/filter/tag/rule.js';
import type { FilterRule } from '../../../plugins/filter/contract.js';
import { ExtFiles } from '../../../store/consumequeue/ext-files.js';
import { readExtUnit } from '../../../store/consumequeue/ext-unit.js';
import type { FilterChange } from '../../../workers/reput/contract.js';
import type { Dispatcher } from '../../../workers/reput/dispatcher.js';
import { FilterBitmaps, loadFilters } from '../../../workers/reput/filter-bitmaps.js';
import { FakeClock } from '../../support/fake-clock.js';
import { LogServices, runToRest } from '../../support/log-services.js';
import { LossyFiles } from '../../support/lossy-files.js';
import { recordingLogger } from '../../support/recording-logger.js';

const BITS = 16;

function setUp(rules: readonly FilterRule[] = [sql92Rule, tagRule]) {
  const disk = new LossyFiles();
  const store = new LogServices({ files: disk, segmentBytes: 1 << 20 });
  const context = { clock: new FakeClock(5000), logger: recordingLogger() };
  const thread = filterThread();
  const plugins = rules.map((rule, number): KnownFilter => {
    return { name: rule.expressionType.toLowerCase(), rule, number, foreign: rule !== sql92Rule && rule !== tagRule };
  });
  const boot = { bits: BITS, modules: [], thread };
  const ext = { dir: '/store/consumequeue_ext', fileBytes: 4096, enabled: true };
  const life = (before?: number): Dispatcher => {
    const filters = new FilterBitmaps(boot, new Map(plugins.map((one) => [one.rule.expressionType, one])), context);
    return store.dispatcher({ ext, ...(before === undefined ? {} : { dispatchFrom: before }) }, filters);
  };
  const dispatcher = life();
  const appender = store.appender();
  const put = (properties: string, topic = 'T'): void => {
    store.put({ properties, topic });
    store.append(appender);
  };
  /** The bitmaps of the topic's messages in hex; empty where there is none. */
  const found = (topic = 'T'): string[] => {
    const files = new ExtFiles(ext, { files: disk, temporaryDir: store.log.temporaryDir, openMax: 4, mode: 'read' });
    const bytes = Buffer.alloc(4096);
    const length = files.read(topic, 0, 0, bytes, bytes.length);
    files.close();
    const texts: string[] = [];
    for (let at = 0; at < length;) {
      const unit = readExtUnit(bytes, at);
      if (unit === undefined) break;
      texts.push(Buffer.from(unit.bitmap ?? []).toString('hex'));
      at += unit.bytes;
    }
    return texts;
  };
  const again = (): Dispatcher => {
    dispatcher.close();
    return life(0);
  };
  return { store, disk, dispatcher, again, put, found, thread, ...context };
}

function change(
  group: string,
  expression: string | undefined,
  positions: number[],
  expressionType = 'SQL92',
): FilterChange {
  if (expression === undefined) return { topic: 'T', group };
  return { topic: 'T', group, filter: { expressionType, expression, positions } };
}

describe('filter bitmaps at dispatch', () => {
  it('are those of the filters in force; nothing is dispatched before the first are told', async () => {
    const { store, dispatcher, put, found } = setUp();
    put('a\u00011');
    runToRest(dispatcher);
    assert.equal(store.mark(Watermark.dispatched), 0);
    const { calls } = dispatcher;
    await calls.setFilters([change('G', 'a = 1', [0, 9])], false);
    runToRest(dispatcher);
    assert.equal(store.mark(Watermark.dispatched), 0, 'there are more to come');
    await calls.setFilters([change('H', 'a = 2', [1]), change('I', 'TagA', [15], 'TAG')], true);
    runToRest(dispatcher);
    put('a\u00012\u0002TAGS\u0001TagA');
    put('a\u00013');
    put('a\u00011', 'Other');
    runToRest(dispatcher);
    assert.deepEqual(found(), ['0102', '0280', '0000']);
    assert.deepEqual(found('Other'), [''], 'nobody asks for that topic');
    await calls.setFilters([change('G', 'a = 3', [0]), change('H', undefined, []), change('I', undefined, [])], false);
    put('a\u00013');
    runToRest(dispatcher);
    await calls.setFilters([change('G', undefined, [])], false);
    put('a\u00013');
    runToRest(dispatcher);
    assert.deepEqual(found().slice(3), ['0100', '']);
  });

  it('tell since when they count, also when the clock was set back, and which cannot be used', async () => {
    const { store, dispatcher, put, logger } = setUp();
    const first = await dispatcher.calls.setFilters(
      [change('G', 'a >', []), change('H', 'a = 1', []), change('I', 'x', [], 'UNKNOWN')],
      true,
    );
    assert.deepEqual(first, { sinceMs: 5000, unusable: [0, 2] });
    assert.equal(logger.lines.filter(({ level }) => level === 'error').length, 1);
    put('a\u00011');
    runToRest(dispatcher);
    const { sinceMs } = await dispatcher.calls.setFilters([], false);
    assert.equal(sinceMs, store.clock.wallMs(), 'the store time of what was dispatched is later than the clock');
  });

  it('stay as they are while a chunk cannot be written: it is written once more with the same', async () => {
    const { disk, dispatcher, put, found } = setUp();
    await dispatcher.calls.setFilters([change('G', 'a = 1', [0])], true);
    disk.fail({ operation: 'write', path: 'consumequeue/T', code: 'ENOSPC' });
    put('a\u00011');
    dispatcher.step();
    let changed = false;
    const change2 = dispatcher.calls.setFilters([change('G', undefined, [])], false).then(() => (changed = true));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(changed, false);
    runToRest(dispatcher);
    await change2;
    assert.deepEqual(found(), ['0100']);
  });

  it('of what an earlier life made visible stay, whatever filters there are in the next', async () => {
    const { store, disk, dispatcher, put, found, again } = setUp();
    await dispatcher.calls.setFilters([], true);
    put('a\u00011');
    runToRest(dispatcher);
    disk.fail({ operation: 'write', path: 'consumequeue/U', code: 'ENOSPC' });
    put('a\u00011');
    put('a\u00011', 'U');
    dispatcher.step();
    assert.equal(store.table.get(store.table.find('T', 0), QueueWord.dispatched), 2, 'one queue got further');
    const next = again();
    await next.calls.setFilters([change('G', 'a = 1', [0]), { ...change('G', 'a = 1', [0]), topic: 'U' }], true);
    put('a\u00011');
    runToRest(next);
    assert.deepEqual([found(), found('U')], [['', '', '0100'], ['0100']]);
  });

  it('come from rules that may be broken: those match nothing, and are named', async () => {
    const broken: FilterRule = {
      expressionType: 'BROKEN',
      compile: () => ({
        matches: () => {
          throw new Error('no');
        },
      }),
    };
    const { dispatcher, put, found, logger } = setUp([sql92Rule, broken]);
    await dispatcher.calls.setFilters([change('B', 'x', [3], 'BROKEN'), change('G', 'a = 1', [0])], true);
    for (let i = 0; i < 9; i++) put('a\u00011');
    runToRest(dispatcher);
    assert.deepEqual(new Set(found()), new Set(['0100']));
    assert.equal(logger.lines.filter(({ fields }) => fields['plugin'] === 'broken').length, 1);
  });

  it('say nothing of a filter that blocked dispatching: it is asked at pulls only', async () => {
    let asked = 0;
    const blocking: FilterRule = {
      expressionType: 'BLOCKING',
      compile: () => ({
        matches: () => {
          asked++;
          const board = new CallBoard(thread.calls);
          board.named(board.running()!.count, clock.monoMs());
          clock.advance(3000);
          return false;
        },
      }),
    };
    const { dispatcher, put, found, thread, clock, logger } = setUp([sql92Rule, blocking]);
    await dispatcher.calls.setFilters([change('B', 'x', [3], 'BLOCKING'), change('G', 'a = 1', [0])], true);
    for (let i = 0; i < 3; i++) put('a\u00011');
    runToRest(dispatcher);
    assert.deepEqual(found(), ['0100', '0900', '0900']);
    assert.equal(asked, 1);
    assert.equal(new FilterCounts(thread.counts).blocks(1), 1);
    assert.equal(logger.lines.filter(({ message }) => message === 'a filter plugin has blocked its thread').length, 1);
  });

  it('leave out a module that cannot be loaded', async () => {
    const logger = recordingLogger();
    const sql92 = new URL('../../../plugins/filter/sql92/index.js', import.meta.url).href;
    const modules = ['file:///nowhere/at-all.js', sql92].map((address, number) => ({
      address,
      number,
      foreign: false,
    }));
    const filters = await loadFilters(
      { bits: BITS, modules, thread: filterThread() },
      { clock: new FakeClock(), logger },
    );
    assert.deepEqual(
      [...filters.values()].map(({ name, number }) => [name, number]),
      [['sql92', 1]],
    );
    assert.equal(logger.lines[0]?.level, 'error');
  });
});
