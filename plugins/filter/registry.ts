import { inject, injectable, type InjectionToken } from 'tsyringe';
import { ExitCode, KernelError } from '../../kernel/base/errors.js';
import { Clock, Logger } from '../../kernel/tokens.js';
import { CallWatch } from './call-watch.js';
import { CompileCache } from './compile-cache.js';
import { FilterError, type CompiledFilter, type FilterPlugin, type FilterRegistry } from './contract.js';
import { compileGuarded } from './guard.js';
import { builtInFilters } from './load.js';

/** What the registry starts with. */
export const InitialFilters: InjectionToken<readonly FilterPlugin[]> = Symbol('InitialFilters');

/** Compiling runs on the network thread: what takes longer is named in the log. */
const slowCompileMs = 100;
const shownCharacters = 200;

@injectable()
export class CachingFilterRegistry implements FilterRegistry {
  readonly faults = new Map<string, number>();
  readonly blocks = new Map<string, number>();
  /** There as soon as a filter is that is not built in. */
  watch: CallWatch | undefined;
  private readonly plugins = new Map<string, FilterPlugin>();
  private readonly cache = new CompileCache();

  constructor(
    @inject(Logger) private readonly logger: Logger,
    @inject(Clock) private readonly clock: Clock,
    @inject(InitialFilters) initial: readonly FilterPlugin[],
  ) {
    for (const plugin of initial) this.register(plugin);
  }

  register(plugin: FilterPlugin): void {
    checkCollisions([...this.plugins.values(), plugin]);
    this.plugins.set(plugin.rule.expressionType, plugin);
    if (!builtInFilters.includes(plugin)) this.watch ??= new CallWatch(this.clock);
  }

  get modules(): string[] {
    return [...this.plugins.values()].map(({ module }) => module).filter((module) => module !== undefined);
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
      const compile = (): CompiledFilter =>
        compileGuarded(plugin.rule, expression, (problem) => this.blame(plugin.name, expression, problem));
      if (this.watch === undefined || builtInFilters.includes(plugin)) return compile();
      const called = `filter plugin ${plugin.name} with the expression ${shown(expression)}`;
      return this.watch.compile(called, compile, (forMs) => this.unblocked(plugin.name, expression, forMs));
    } finally {
      const tookMs = Math.round(this.clock.monoMs() - start);
      const fields = { plugin: plugin.name, expression: shown(expression), tookMs };
      if (tookMs > slowCompileMs) this.logger.warn(fields, 'a filter plugin was slow to compile an expression');
    }
  }

  private unblocked(plugin: string, expression: string, forMs: number): void {
    this.blocks.set(plugin, (this.blocks.get(plugin) ?? 0) + 1);
    this.logger.error({ plugin, expression: shown(expression), forMs }, 'a filter plugin has blocked its thread');
  }

  /** Counts all, logs the first, the tenth, the hundredth …, so that a broken rule cannot fill the log. */
  private blame(plugin: string, expression: string, problem: string): void {
    const count = (this.faults.get(plugin) ?? 0) + 1;
    this.faults.set(plugin, count);
    if (!/^10*$/.test(String(count))) return;
    this.logger.error({ plugin, expression: shown(expression), problem, count }, 'a filter plugin broke its contract');
  }
}

function shown(text: string): string {
  return text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters)}…`;
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
