import { inject, injectable, type InjectionToken } from 'tsyringe';
import { ExitCode, KernelError } from '../../kernel/base/errors.js';
import { Clock, Logger } from '../../kernel/tokens.js';
import { CompileCache } from './compile-cache.js';
import { FilterCompiler, filterThread, shown } from './compiler.js';
import {
  FilterError,
  type CompiledFilter,
  type FilterModule,
  type FilterPlugin,
  type FilterRegistry,
} from './contract.js';
import { FilterCounts, FILTERS_MAX } from './counts.js';
import { builtInFilters } from './load.js';

/** What the registry starts with. */
export const InitialFilters: InjectionToken<readonly FilterPlugin[]> = Symbol('InitialFilters');

/** Compiling runs on the network thread: what takes longer is named in the log. */
const slowCompileMs = 100;

@injectable()
export class CachingFilterRegistry implements FilterRegistry {
  readonly dispatching = filterThread();
  /** Memory of the network thread. */
  readonly answering = filterThread();
  private readonly plugins = new Map<string, FilterPlugin>();
  private readonly numbers = new Map<FilterPlugin, number>();
  private readonly cache = new CompileCache();
  private readonly compiler: FilterCompiler;

  constructor(
    @inject(Logger) private readonly logger: Logger,
    @inject(Clock) private readonly clock: Clock,
    @inject(InitialFilters) initial: readonly FilterPlugin[],
  ) {
    this.compiler = new FilterCompiler(logger, clock, this.answering);
    for (const plugin of initial) this.register(plugin);
  }

  register(plugin: FilterPlugin): void {
    checkCollisions([...this.plugins.values(), plugin]);
    if (this.numbers.size === FILTERS_MAX)
      throw new KernelError('FILTERS_FULL', `${FILTERS_MAX} filter plugins are loaded already`);
    this.numbers.set(plugin, this.numbers.size);
    this.plugins.set(plugin.rule.expressionType, plugin);
  }

  /** A filter is there that is not built in. */
  get hasForeign(): boolean {
    return [...this.numbers.keys()].some(isForeign);
  }

  get modules(): FilterModule[] {
    return [...this.numbers].flatMap(([plugin, number]) => {
      const { module: address } = plugin;
      return address === undefined ? [] : [{ address, number, foreign: isForeign(plugin) }];
    });
  }

  get faults(): Map<string, number> {
    return this.counted((counts, number) => counts.faults(number));
  }

  get blocks(): Map<string, number> {
    return this.counted((counts, number) => counts.blocks(number));
  }

  get(expressionType: string | null | undefined): FilterPlugin | undefined {
    // 4.9: ExpressionType#isTagType
    return this.plugins.get(expressionType || 'TAG');
  }

  compile(expressionType: string | null | undefined, expression: string): CompiledFilter {
    const plugin = this.get(expressionType);
    if (plugin !== undefined) {
      return this.cache.get(plugin.rule.expressionType, expression, () => this.compileNow(plugin, expression));
    }
    const known = [...this.plugins.keys()].join(', ');
    throw new FilterError(`no filter for expression type ${shown(expressionType ?? '')}, only for ${known}`, -1);
  }

  private compileNow(plugin: FilterPlugin, expression: string): CompiledFilter {
    const start = this.clock.monoMs();
    try {
      const { name, rule } = plugin;
      const number = this.numbers.get(plugin) ?? 0;
      return this.compiler.compile({ name, rule, number, foreign: isForeign(plugin) }, expression);
    } finally {
      const tookMs = Math.round(this.clock.monoMs() - start);
      const fields = { plugin: plugin.name, expression: shown(expression), tookMs };
      if (tookMs > slowCompileMs) this.logger.warn(fields, 'a filter plugin was slow to compile an expression');
    }
  }

  /** By plugin name, over both threads; only those that have some. */
  private counted(of: (counts: FilterCounts, number: number) => number): Map<string, number> {
    const threads = [this.answering, this.dispatching].map(({ counts }) => new FilterCounts(counts));
    const all = [...this.numbers].map(([{ name }, number]): [string, number] => {
      return [name, threads.reduce((sum, counts) => sum + of(counts, number), 0)];
    });
    return new Map(all.filter(([, count]) => count > 0));
  }
}

function isForeign(plugin: FilterPlugin): boolean {
  return !builtInFilters.includes(plugin);
}

/** Throws KernelError FILTER_TAKEN when two plugins share a name or an expression type. */
export function checkCollisions(plugins: readonly FilterPlugin[]): void {
  for (const [at, { name, rule }] of plugins.entries()) {
    const known = plugins.slice(0, at).find((other) => {
      return other.name === name || other.rule.expressionType === rule.expressionType;
    });
    if (known === undefined) continue;
    throw new KernelError(
      'FILTER_TAKEN',
      `filter plugin ${name} (${rule.expressionType}) collides with ${known.name} (${known.rule.expressionType})`,
      {
        remedy: 'load only one of them, or give yours a name and an expression type of its own',
        exitCode: ExitCode.usage,
      },
    );
  }
}
