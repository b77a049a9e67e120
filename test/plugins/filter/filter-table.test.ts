import 'reflect-metadata';
import assert from 'node:assert/strict';
import { FilterTable } from '../../../plugins/filter/bitmap/filter-table.js';
import { GroupFilter } from '../../../plugins/filter/bitmap/group-filter.js';
import { CachingFilterRegistry } from '../../../plugins/filter/registry.js';
import sql92 from '../../../plugins/filter/sql92/index.js';
import tag from '../../../plugins/filter/tag/index.js';
import type { SubscriptionData } from '../../../protocol/bodies/heartbeat.js';
import type { FilterChange, FiltersInForce } from '../../../workers/reput/contract.js';
import { defaultOptions } from '../../support/default-options.js';
import { FakeClock } from '../../support/fake-clock.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { subscriptionTo } from '../../support/send-pull.js';

const BITS = 112;

function sql(topic: string, subString: string, subVersion = 1): SubscriptionData {
  return subscriptionTo(topic, { subString, subVersion, expressionType: 'SQL92' });
}

const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

/** The dispatching service as the table sees it: answers when told to. */
class Service {
  readonly calls: {
    changes: readonly FilterChange[];
    complete: boolean;
    answer: (inForce?: Partial<FiltersInForce>) => Promise<void>;
    die: () => Promise<void>;
  }[] = [];

  setFilters(changes: readonly FilterChange[], complete: boolean): Promise<FiltersInForce> {
    return new Promise((resolve, reject) => {
      this.calls.push({
        changes,
        complete,
        answer: (inForce) => (resolve({ sinceMs: 5000, unusable: [], ...inForce }), turn()),
        die: () => (reject(new Error('died')), turn()),
      });
    });
  }

  get last() {
    return this.calls[this.calls.length - 1]!;
  }
}

function setUp(changes = {}) {
  const logger = recordingLogger();
  const clock = new FakeClock();
  const registry = new CachingFilterRegistry(logger, clock, [tag, sql92]);
  const options = defaultOptions({
    enableCalcFilterBitMap: true,
    enableConsumeQueueExt: true,
    bitMapLengthConsumeQueueExt: BITS,
    ...changes,
  });
  const table = new FilterTable(options, clock, logger, registry);
  const service = new Service();
  const found = (): string[] =>
    [...table.all()].map(
      ({ group, topic, expression, deadMs }) => `${group} ${topic} ${expression} ${deadMs > 0 ? 'dead' : 'alive'}`,
    );
  /** What the pull asks; the extension has no bit set. */
  const passes = (group: string, subscription: SubscriptionData, storeTimestamp: number, bits = BITS): boolean => {
    const filter = table.narrowed(group, subscription, registry.compile('SQL92', subscription.subString));
    return filter.matchesTagsCode?.(0, { storeTimestamp, bits, has: () => false }) ?? true;
  };
  return { table, clock, logger, service, found, passes, registry };
}

describe('filters of consumer groups', () => {
  it('are those of expressions, until the group has none', () => {
    const { table, found, clock } = setUp();
    table.register('G', [subscriptionTo('T'), sql('A', 'a > 1'), sql('B', 'b > 1'), sql('C', '')]);
    assert.deepEqual(found(), ['G A a > 1 alive', 'G B b > 1 alive']);
    table.register('G', [sql('A', 'a > 1')]);
    assert.deepEqual(found(), ['G A a > 1 alive', 'G B b > 1 dead'], 'a topic that it left is kept');
    table.unregister('G');
    assert.deepEqual(found(), ['G A a > 1 dead', 'G B b > 1 dead']);
    clock.advance(999);
    table.forgetDeadFor(1000);
    assert.equal(found().length, 2);
    table.register('G', [sql('A', 'a > 1')]);
    clock.advance(1);
    table.forgetDeadFor(1000);
    assert.deepEqual(found(), ['G A a > 1 alive']);
  });

  it('are asked for messages that were dispatched with them, and for no earlier ones', async () => {
    const { table, service, passes } = setUp();
    const attached = table.attach(service);
    assert.deepEqual([service.last.changes, service.last.complete], [[], true]);
    await service.last.answer();
    await attached;
    table.register('G', [sql('T', 'a > 1')]);
    await turn();
    const { changes } = service.last;
    assert.deepEqual(
      changes.map(({ topic, group, filter }) => [topic, group, filter?.expression]),
      [['T', 'G', 'a > 1']],
    );
    assert.equal(passes('G', sql('T', 'a > 1'), 1e15), true, 'not in force yet');
    await service.last.answer({ sinceMs: 5000 });
    assert.equal(passes('G', sql('T', 'a > 1'), 5000), true, 'stored before');
    assert.equal(passes('G', sql('T', 'a > 1'), 5001), false);
    assert.equal(passes('G', sql('T', 'a > 1'), 5001, 64), true, 'bits of another width');
    assert.equal(passes('G', sql('T', 'a > 1'), 5001, 0), true, 'none');
    assert.equal(passes('G', sql('T', 'a > 2'), 5001), true, 'not what the group subscribes to');
    assert.equal(passes('H', sql('T', 'a > 1'), 5001), true, 'another group');
  });

  it('keep their time when the group comes back, and get a new one when the expression changes', async () => {
    const { table, service, passes, registry } = setUp();
    void table.attach(service);
    await service.last.answer();
    table.register('G', [sql('T', 'a > 1', 7)]);
    await turn();
    await service.last.answer({ sinceMs: 5000 });
    const held = table.narrowed('G', sql('T', 'a > 1'), registry.compile('SQL92', 'a > 1'));
    table.unregister('G');
    table.register('G', [sql('T', 'a > 1', 9)]);
    assert.equal(passes('G', sql('T', 'a > 1'), 5001), false);
    const before = service.calls.length;
    table.register('G', [sql('T', 'b > 1', 10)]);
    await turn();
    assert.equal(service.calls.length, before + 1);
    assert.equal(
      held.matchesTagsCode?.(0, { storeTimestamp: 6000, bits: BITS, has: () => false }),
      true,
      'bits are no longer its own',
    );
    await service.last.answer({ sinceMs: 8000 });
    assert.deepEqual([passes('G', sql('T', 'b > 1'), 8000), passes('G', sql('T', 'b > 1'), 8001)], [true, false]);
  });

  it('are told one call at a time, all of them once more when the service starts anew', async () => {
    const { table, service, passes } = setUp();
    table.register('G', [sql('T', 'a > 1')]);
    void table.attach(service);
    table.register('G', [sql('T', 'a > 1'), sql('U', 'u > 1')]);
    assert.equal(service.calls.length, 1, 'the second waits for the answer');
    assert.equal(service.calls[0]?.complete, true);
    await service.calls[0]?.answer();
    assert.deepEqual(
      service.last.changes.map(({ topic }) => topic),
      ['U'],
    );
    const late = service.last;
    const again = table.attach(service);
    await late.die();
    assert.deepEqual(service.last.changes.map(({ topic }) => topic).sort(), ['T', 'U']);
    await service.last.answer({ sinceMs: 9000 });
    await again;
    assert.equal(passes('G', sql('T', 'a > 1'), 5001), false, 'was in force all the time');
    assert.equal(passes('G', sql('U', 'u > 1'), 9000), true);
  });

  it('that cannot be used by the service, or not be compiled, are none', async () => {
    const { table, service, found } = setUp();
    void table.attach(service);
    await service.last.answer();
    table.register('G', [sql('T', 'a > 1'), sql('U', 'u >')]);
    assert.deepEqual(found(), ['G T a > 1 alive']);
    await turn();
    await service.last.answer({ unusable: [0] });
    assert.deepEqual(found(), []);
    table.register('G', [sql('T', 'a > 1')]);
    table.register('G', [sql('T', 'a >')]);
    assert.deepEqual(found(), [], '4.9 removes the old one, too');
  });

  it('count from their registration while no bits are computed', () => {
    const { table, clock } = setUp({ enableCalcFilterBitMap: false });
    assert.equal(table.boot, undefined);
    table.register('G', [sql('T', 'a > 1')]);
    assert.equal([...table.all()][0]?.bornMs, clock.wallMs());
    assert.equal(setUp({ enableConsumeQueueExt: false }).table.boot, undefined, 'no place for them');
    const { bits, modules } = setUp().table.boot!;
    assert.deepEqual([bits, ...modules.map(({ address }) => address)], [BITS, tag.module, sql92.module]);
  });

  it('are bounded in number and in size', () => {
    const { table, found, logger } = setUp();
    const text = `a = '${'x'.repeat(16_000)}'`;
    for (let i = 0; i < 2100; i++) table.register(`G${i}`, [sql('T', text)]);
    assert.ok(found().length > 2000 && found().length < 2100, `${found().length}`);
    assert.equal(logger.lines.filter(({ message }) => message.startsWith('too many filters')).length, 1);
  });

  it('that a file holds are used when they can be compiled', () => {
    const { table, found } = setUp();
    const stored = (expression: string): GroupFilter =>
      new GroupFilter({ topic: 'T', group: 'G', expressionType: 'SQL92', expression }, 1, [1, 2, 3], BITS);
    assert.deepEqual([table.restore(stored('a >')), table.restore(stored('a > 1'))], [false, true]);
    assert.equal(found().length, 1);
  });
});
