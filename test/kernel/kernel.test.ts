import assert from 'node:assert/strict';
import type { DependencyContainer, InjectionToken } from 'tsyringe';
import type { Options } from '../../config/options.js';
import { systemClock } from '../../kernel/base/clock.js';
import { KernelError } from '../../kernel/base/errors.js';
import { all, createRootContainer, inject, injectable } from '../../kernel/container.js';
import { Kernel, type BootOptions } from '../../kernel/kernel.js';
import type { PluginMain, PluginManifest } from '../../kernel/plugin.js';
import { ThreadHost } from '../../kernel/threads/contract.js';
import { Clock } from '../../kernel/tokens.js';
import { recordingLogger } from '../support/recording-logger.js';

type HookName = keyof PluginMain;

/** A plugin that writes its hooks into `log`; `hooks` replaces some of them. */
function plugin(name: string, log: string[], needs: string[] = [], hooks: PluginMain = {}): PluginManifest {
  const note = (hook: HookName) => () => {
    log.push(`${name}.${hook}`);
    return hooks[hook]?.();
  };
  class Main implements PluginMain {
    start = note('start');
    open = note('open');
    close = note('close');
    stop = note('stop');
  }
  return { name, needs, provides: [], setup: () => void log.push(`${name}.setup`), main: Main };
}

function bootOptions(plugins: PluginManifest[], more: Partial<BootOptions> = {}): BootOptions {
  return { plugins, options: {} as Options, clock: systemClock, logger: recordingLogger(), ...more };
}

async function bootFails(plugins: PluginManifest[], more: Partial<BootOptions> = {}): Promise<KernelError> {
  try {
    await Kernel.boot(bootOptions(plugins, more));
  } catch (error) {
    assert.ok(error instanceof KernelError);
    return error;
  }
  throw new assert.AssertionError({ message: 'the boot did not fail' });
}

const boom = (): never => {
  throw new Error('boom');
};
const hang = (): Promise<void> => new Promise<void>(() => undefined);

interface Counter {
  next(): number;
}
const Counter: InjectionToken<Counter> = Symbol('Counter');

@injectable()
class CounterMain implements Counter, PluginMain {
  static made = 0;
  #count = 0;
  constructor() {
    CounterMain.made += 1;
  }
  next(): number {
    return ++this.#count;
  }
  start(): void {
    assert.equal(this.#count, 0);
  }
}

@injectable()
class CounterUser implements PluginMain {
  constructor(
    @inject(Counter) readonly counter: Counter,
    @inject(Clock) readonly clock: Clock,
    @inject(ThreadHost) readonly threads: ThreadHost,
  ) {}
  start(): void {
    assert.equal(this.clock, systemClock);
    this.counter.next();
  }
}

function counterPlugin(setup: (container: DependencyContainer) => void): PluginManifest {
  return { name: 'counter', needs: [], provides: [Counter], setup, main: CounterMain };
}
const userPlugin: PluginManifest = {
  name: 'user',
  needs: ['counter'],
  provides: [],
  setup: () => undefined,
  main: CounterUser,
};

describe('kernel boot and stop', () => {
  it('sets up and starts in order of needs, then opens all; closes and stops in reverse', async () => {
    const log: string[] = [];
    const kernel = await Kernel.boot(bootOptions([plugin('b', log, ['a']), plugin('a', log)]));
    assert.deepEqual(log.splice(0), ['a.setup', 'a.start', 'b.setup', 'b.start', 'a.open', 'b.open']);
    await kernel.stop('test');
    assert.deepEqual(log, ['b.close', 'a.close', 'b.stop', 'a.stop']);
  });

  it('waits for a hook before it goes on', async () => {
    const log: string[] = [];
    const slow = {
      start: () => new Promise<void>((resolve) => setImmediate(() => resolve(void log.push('slow done')))),
    };
    const kernel = await Kernel.boot(bootOptions([plugin('a', log, [], slow), plugin('b', log)]));
    assert.ok(log.indexOf('slow done') < log.indexOf('b.setup'));
    await kernel.stop('test');
  });

  it('stops once, however often it is asked', async () => {
    const log: string[] = [];
    const kernel = await Kernel.boot(bootOptions([plugin('a', log)]));
    await Promise.all([kernel.stop('one'), kernel.stop('two')]);
    await kernel.stop('three');
    assert.deepEqual(
      log.filter((line) => line === 'a.stop'),
      ['a.stop'],
    );
  });

  it('has a tree with every plugin', async () => {
    const kernel = await Kernel.boot(bootOptions([plugin('b', [], ['a']), plugin('a', [])]));
    assert.match(kernel.tree, /^kernel [\d.]+ ms\n├── a +[\d.]+ ms.*\n└── b +[\d.]+ ms.*needs a$/);
    await kernel.stop('test');
  });
});

describe('kernel and failing plugins', () => {
  for (const hook of ['start', 'open'] as const) {
    it(`names a plugin that throws in ${hook}, and stops the started ones in reverse`, async () => {
      const log: string[] = [];
      const error = await bootFails([plugin('a', log), plugin('b', log), plugin('c', log, [], { [hook]: boom })]);
      assert.equal(error.code, 'PLUGIN_FAILED');
      assert.equal(error.message, `plugin 'c' failed in ${hook}: boom`);
      assert.equal((error.cause as Error).message, 'boom');
      const stops = log.filter((line) => /close|stop/.test(line));
      const both = ['b.close', 'a.close', 'b.stop', 'a.stop'];
      assert.deepEqual(stops, hook === 'start' ? both : ['c.close', ...both.slice(0, 2), 'c.stop', ...both.slice(2)]);
    });
  }

  it('names a plugin that throws in setup, and one whose promise is rejected', async () => {
    const error = await bootFails([{ ...plugin('a', []), setup: boom }]);
    assert.equal(error.message, "plugin 'a' failed in setup: boom");
    const rejected = await bootFails([plugin('a', [], [], { start: () => Promise.reject(new Error('later')) })]);
    assert.equal(rejected.message, "plugin 'a' failed in start: later");
  });

  it('keeps remedy and exit code of an error of ours', async () => {
    const inner = new KernelError('PORT_IN_USE', 'port 10911 is in use', { remedy: 'choose another', exitCode: 2 });
    const error = await bootFails([plugin('a', [], [], { open: () => Promise.reject(inner) })]);
    assert.equal(error.remedy, 'choose another');
    assert.equal(error.exitCode, 2);
    assert.equal(error.cause, inner);
  });

  it('names a plugin that hangs, and the hook', async () => {
    const log: string[] = [];
    const error = await bootFails([plugin('a', log), plugin('b', log, [], { start: hang })], { hookTimeoutMs: 30 });
    assert.equal(error.code, 'PLUGIN_HUNG');
    assert.match(error.message, /'b' hangs in start.*30 ms/);
    assert.deepEqual(log.slice(-2), ['a.close', 'a.stop']);
  });

  it('goes on with the stop when one hangs and one throws, and rejects with the first error', async () => {
    const log: string[] = [];
    const logger = recordingLogger();
    const kernel = await Kernel.boot(
      bootOptions([plugin('a', log), plugin('b', log, [], { stop: boom }), plugin('c', log, [], { close: hang })], {
        hookTimeoutMs: 30,
        logger,
      }),
    );
    log.length = 0;
    await assert.rejects(kernel.stop('test'), { code: 'PLUGIN_HUNG', message: /'c' hangs in close/ });
    assert.deepEqual(log, ['c.close', 'b.close', 'a.close', 'c.stop', 'b.stop', 'a.stop']);
    const errors = logger.lines.filter(({ level }) => level === 'error');
    assert.deepEqual(
      errors.map(({ fields }) => fields),
      [
        { plugin: 'c', hook: 'close' },
        { plugin: 'b', hook: 'stop' },
      ],
    );
  });

  it('fails before any plugin runs when the order is impossible', async () => {
    const log: string[] = [];
    const error = await bootFails([plugin('a', log), plugin('b', log, ['nobody'])]);
    assert.equal(error.code, 'PLUGIN_MISSING');
    assert.deepEqual(log, []);
  });
});

describe('kernel and tokens', () => {
  it('makes a provided token visible to later plugins, as one instance', async () => {
    CounterMain.made = 0;
    const provider = counterPlugin((container) => container.register(Counter, { useToken: CounterMain }));
    const kernel = await Kernel.boot(bootOptions([userPlugin, provider]));
    assert.equal(kernel.get<Counter>(Counter).next(), 2);
    assert.equal(CounterMain.made, 1);
    await kernel.stop('test');
  });

  it('does not show what a plugin registers without providing it', async () => {
    const hidden: InjectionToken<number> = Symbol('Hidden');
    const kernel = await Kernel.boot(
      bootOptions([
        { name: 'a', needs: [], provides: [], setup: (container) => void container.registerInstance(hidden, 1) },
      ]),
    );
    assert.throws(() => kernel.get(hidden), /Hidden/);
    await kernel.stop('test');
  });

  it('refuses a plugin that does not register what it provides', async () => {
    const error = await bootFails([counterPlugin(() => undefined)]);
    assert.equal(error.code, 'PLUGIN_PROVIDES');
    assert.match(error.message, /'counter'.*Counter/);
  });

  it('refuses a token that would be a second instance of the main class', async () => {
    const error = await bootFails([
      userPlugin,
      counterPlugin((container) => container.registerSingleton(Counter, CounterMain)),
    ]);
    assert.match(error.message, /'counter' provides Counter as a second instance/);
  });

  it('says which plugin provides a token that somebody injects without needing it', async () => {
    const provider = counterPlugin((container) => container.register(Counter, { useToken: CounterMain }));
    const error = await bootFails([{ ...userPlugin, needs: [] }, provider]);
    assert.equal(error.code, 'PLUGIN_FAILED');
    assert.match(error.message, /'user' could not be made/);
    assert.match(error.remedy ?? '', /'counter'.*needs of 'user'/);
  });

  it('shares nothing between two kernels', async () => {
    const provider = counterPlugin((container) => container.register(Counter, { useToken: CounterMain }));
    const one = await Kernel.boot(bootOptions([provider]));
    const two = await Kernel.boot(bootOptions([provider]));
    one.get<Counter>(Counter).next();
    assert.equal(two.get<Counter>(Counter).next(), 1);
    await Promise.all([one.stop('test'), two.stop('test')]);
  });

  it('collects contributions of several plugins, and none', async () => {
    const rule: InjectionToken<string> = Symbol('Rule');
    const container = createRootContainer();
    assert.deepEqual(all(container, rule), []);
    container.registerInstance(rule, 'tag');
    container.registerInstance(rule, 'sql92');
    assert.deepEqual(all(container.createChildContainer(), rule), ['tag', 'sql92']);
  });
});
