import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createRootContainer } from '../../../kernel/container.js';
import { CallBoard } from '../../../kernel/ring/call-board.js';
import type { PluginManifest } from '../../../kernel/plugin.js';
import { Clock, Logger, Options } from '../../../kernel/tokens.js';
import { CompileCache } from '../../../plugins/filter/compile-cache.js';
import { defineFilter, FilterError, FilterRegistry } from '../../../plugins/filter/contract.js';
import type { CompiledFilter, FilterPlugin } from '../../../plugins/filter/contract.js';
import { filterPlugin } from '../../../plugins/filter/index.js';
import { CachingFilterRegistry } from '../../../plugins/filter/registry.js';
import sql92 from '../../../plugins/filter/sql92/index.js';
import tag from '../../../plugins/filter/tag/index.js';
import { defaultOptions } from '../../support/default-options.js';
import { FakeClock } from '../../support/fake-clock.js';
import { recordingLogger } from '../../support/recording-logger.js';

const none = { get: () => undefined };

/** A plugin whose rule does what a test wants, whatever the types say. */
function plugin(name: string, compile: (expression: string) => unknown): FilterPlugin {
  return defineFilter(name, { expressionType: name.toUpperCase(), compile: compile as () => CompiledFilter });
}

function setUp(...plugins: FilterPlugin[]) {
  const logger = recordingLogger();
  const clock = new FakeClock();
  return { logger, clock, registry: new CachingFilterRegistry(logger, clock, [tag, ...plugins]) };
}

describe('filter registry', () => {
  it('finds plugins by expression type, TAG when there is none', () => {
    const { registry } = setUp(sql92);
    assert.equal(registry.get('SQL92'), sql92);
    for (const type of ['TAG', '', null, undefined]) assert.equal(registry.get(type), tag);
    assert.equal(registry.get('sql92'), undefined);
  });

  it('refuses a second plugin of a name or of a type', () => {
    const { registry } = setUp();
    const namesake = defineFilter('tag', { expressionType: 'OTHER', compile: tag.rule.compile });
    const twin = defineFilter('labels', { expressionType: 'TAG', compile: tag.rule.compile });
    for (const second of [namesake, twin])
      assert.throws(() => registry.register(second), {
        code: 'FILTER_TAKEN',
        message: new RegExp(`${second.name} .*tag`),
      });
    registry.register(sql92);
    assert.equal(registry.get('SQL92'), sql92);
  });

  it('names the types that it knows when asked for another', () => {
    const { registry } = setUp(sql92);
    assert.throws(() => registry.compile('NOPE', 'x'), { name: 'FilterError', message: /NOPE, only for TAG, SQL92/ });
  });

  it('compiles an expression once, also one that is refused', () => {
    let compiled = 0;
    const counting = plugin('counting', (expression) => {
      compiled++;
      if (expression === 'bad') throw new FilterError('bad', 0);
      return { matches: () => expression === 'yes' };
    });
    const { registry } = setUp(counting);
    const first = registry.compile('COUNTING', 'yes');
    assert.equal(registry.compile('COUNTING', 'yes'), first);
    assert.equal(first.matches?.(none), true);
    assert.equal(registry.compile('COUNTING', 'no').matches?.(none), false);
    for (let time = 0; time < 2; time++)
      assert.throws(
        () => registry.compile('COUNTING', 'bad'),
        (error) => error instanceof FilterError && error.position === 0,
      );
    assert.equal(compiled, 3);
  });

  it('takes a rule that throws, or answers nonsense, for one that does not match, and names it', async () => {
    const answers: Record<string, () => unknown> = {
      throw: () => {
        throw new Error('boom');
      },
      text: () => 'true',
      nothing: () => undefined,
      promise: () => Promise.reject(new Error('late')),
    };
    const { registry, logger } = setUp(
      plugin('moody', (expression) => ({ matches: answers[expression], matchesTagsCode: answers[expression] })),
    );
    for (const mood of Object.keys(answers)) {
      const filter = registry.compile('MOODY', mood);
      assert.equal(filter.matches?.(none), false, mood);
      assert.equal(filter.matchesTagsCode?.(1), false, mood);
    }
    assert.deepEqual([...registry.faults], [['moody', 8]]);
    assert.equal(logger.lines.length, 1, 'the first is logged, the tenth would be');
    assert.equal(logger.lines[0]?.level, 'error');
    assert.deepEqual(logger.lines[0]?.fields, {
      plugin: 'moody',
      expression: 'throw',
      problem: 'matches threw boom',
      count: 1,
    });
    assert.equal(registry.compile('TAG', '*').matchesTagsCode?.(1), true, 'others go on');
    await Promise.resolve();
  });

  it('logs the first, the tenth, the hundredth breach', () => {
    const { registry, logger } = setUp(plugin('odd', () => ({ matches: () => 1 })));
    const filter = registry.compile('ODD', 'x');
    for (let time = 0; time < 150; time++) filter.matches?.(none);
    assert.deepEqual(
      logger.lines.map(({ fields }) => fields['count']),
      [1, 10, 100],
    );
  });

  it('answers FilterError when compile throws or returns something else than a filter', () => {
    for (const [name, compile, reason] of [
      ['thrower', () => JSON.parse('{'), /THROWER failed on this expression: /],
      ['deep', function deep(): unknown { return [deep()]; }, /DEEP failed on this expression: Maximum call stack/], // prettier-ignore
      ['empty', () => ({}), /EMPTY is broken: compile returned neither matches nor matchesTagsCode/],
      ['none', () => undefined, /NONE is broken/],
      ['flag', () => ({ matches: true }), /FLAG is broken: compile returned something else than functions/],
      ['later', () => Promise.resolve({ matches: () => true }), /LATER is broken/],
    ] as const) {
      const { registry, logger } = setUp(plugin(name, compile));
      assert.throws(
        () => registry.compile(name.toUpperCase(), 'x'),
        (error) => error instanceof FilterError && reason.test(error.reason),
      );
      assert.equal(registry.faults.get(name), 1);
      assert.equal(logger.lines[0]?.fields['plugin'], name);
    }
  });

  it('knows the FilterError of another copy of this package, and blames nobody for it', () => {
    const foreign = Object.assign(new Error('x at position 3'), { name: 'FilterError', reason: 'x', position: 3 });
    const { registry } = setUp(plugin('foreign', () => { throw foreign; })); // prettier-ignore
    assert.throws(
      () => registry.compile('FOREIGN', 'abcd'),
      (error) => error instanceof FilterError && error.reason === 'x' && error.position === 3,
    );
    assert.equal(registry.faults.size, 0);
  });

  it('names a plugin that compiles slowly', () => {
    const clock = new FakeClock();
    const logger = recordingLogger();
    const slow = plugin('slow', () => {
      clock.advance(150);
      return { matches: () => true };
    });
    const registry = new CachingFilterRegistry(logger, clock, [slow]);
    registry.compile('SLOW', 'y'.repeat(1000));
    assert.equal(logger.lines[0]?.level, 'warn');
    assert.equal(logger.lines[0]?.fields['plugin'], 'slow');
    assert.equal(logger.lines[0]?.fields['tookMs'], 150);
    assert.equal(String(logger.lines[0]?.fields['expression']).length, 201, 'long expressions are cut');
  });

  it('keeps a state of its own in a filter object', () => {
    class Rule {
      readonly wanted = 7;
      matchesTagsCode(tagsCode: number): boolean {
        return tagsCode === this.wanted;
      }
    }
    const { registry } = setUp(plugin('classy', () => new Rule()));
    assert.equal(registry.compile('CLASSY', 'x').matchesTagsCode?.(7), true);
  });

  it('shows a filter what is stored beside the entry', () => {
    const seen: unknown[] = [];
    const { registry } = setUp(
      plugin('beside', () => ({ matchesTagsCode: (...args: unknown[]) => seen.push(args) > 0 })),
    );
    const extension = { storeTimestamp: 7, bits: 8, has: () => true };
    const filter = registry.compile('BESIDE', 'x');
    assert.deepEqual([filter.matchesTagsCode?.(5, extension), filter.matchesTagsCode?.(6)], [true, true]);
    assert.deepEqual(seen, [
      [5, extension],
      [6, undefined],
    ]);
  });

  const provided = async (manifest: PluginManifest, enablePropertyFilter: boolean): Promise<FilterRegistry> => {
    const container = createRootContainer().createChildContainer();
    container.registerInstance(Logger, recordingLogger());
    container.registerInstance(Clock, new FakeClock());
    container.registerInstance(Options, defaultOptions({ enablePropertyFilter }));
    await manifest.setup(container);
    const registry = container.resolve(FilterRegistry);
    assert.equal(registry, container.resolve(FilterRegistry));
    return registry;
  };

  it('is what the manifest provides, with tags and the loaded plugins', async () => {
    const manifest = filterPlugin([sql92, tag]);
    assert.deepEqual([manifest.name, manifest.needs, manifest.provides], ['filter', [], [FilterRegistry]]);
    const registry = await provided(manifest, true);
    assert.deepEqual([registry.get('TAG'), registry.get('SQL92')], [tag, sql92]);
  });

  it('knows no SQL92 while enablePropertyFilter is off, but other filters', async () => {
    const other = plugin('other', () => ({ matches: () => true }));
    const registry = await provided(filterPlugin([sql92, other]), false);
    assert.deepEqual([registry.get('SQL92'), registry.get('OTHER')], [undefined, other]);
  });

  it('watches calls into filters that are not built in, and only those', () => {
    assert.equal(setUp(sql92).registry.hasForeign, false);
    const seen: unknown[] = [];
    const { registry, clock, logger } = setUp(
      sql92,
      plugin('slow', () => ({ matches: () => look() })),
    );
    const board = new CallBoard(registry.answering.calls);
    const look = (): boolean => seen.push(board.running()?.name) > 0;
    assert.equal(registry.compile('SLOW', 'x').matches?.(none), true);
    assert.deepEqual(seen, ['filter plugin slow with the expression x']);
    assert.equal(board.running(), undefined, 'nothing runs any more');

    const blocking = plugin('blocking', () => ({
      matches: () => {
        board.named(board.running()!.count, clock.monoMs());
        clock.advance(3000);
        return true;
      },
    }));
    registry.register(blocking);
    assert.equal(registry.compile('BLOCKING', 'y').matches?.(none), true);
    assert.deepEqual([...registry.blocks], [['blocking', 1]]);
    assert.deepEqual(logger.lines.at(-1)?.fields, { plugin: 'blocking', expression: 'y', forMs: 3000 });
  });
});

describe('compile cache', () => {
  const filter: CompiledFilter = { matches: () => true };
  const never = (): CompiledFilter => assert.fail('was kept, must not be compiled');

  it('forgets the least recently used', () => {
    const cache = new CompileCache(2);
    cache.get('T', 'a', () => filter);
    cache.get('T', 'b', () => filter);
    cache.get('T', 'a', never);
    cache.get('T', 'c', () => filter);
    assert.equal(cache.size, 2);
    cache.get('T', 'a', never);
    let compiled = false;
    cache.get('T', 'b', () => ((compiled = true), filter));
    assert.ok(compiled);
  });

  it('bounds the characters that it keeps', () => {
    const cache = new CompileCache(100, 100);
    for (let at = 10; at < 60; at++) cache.get('T', `${at}${'x'.repeat(20)}`, () => filter);
    assert.equal(cache.size, 4, '24 characters each');
    assert.equal(
      cache.get('T', 'y'.repeat(200), () => filter),
      filter,
      'too long to be kept, yet compiled',
    );
    assert.equal(cache.size, 0);
    let again = false;
    cache.get('T', 'y'.repeat(200), () => ((again = true), filter));
    assert.ok(again, 'not even as the last one asked for');
  });

  it('tells types apart', () => {
    const cache = new CompileCache();
    const other: CompiledFilter = { matches: () => false };
    assert.equal(
      cache.get('T', 'a', () => filter),
      filter,
    );
    assert.equal(
      cache.get('U', 'a', () => other),
      other,
    );
  });
});
