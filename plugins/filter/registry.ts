import { inject, injectable, type InjectionToken } from 'tsyringe';
import { KernelError } from '../../kernel/base/errors.js';
import { Clock, Logger } from '../../kernel/tokens.js';
import { CompileCache } from './compile-cache.js';
import { FilterError, type CompiledFilter, type FilterPlugin, type FilterRegistry } from './contract.js';
import { compileGuarded } from './guard.js';

/** What the registry starts with. */
export const InitialFilters: InjectionToken<readonly FilterPlugin[]> = Symbol('InitialFilters');

/** Compiling runs on the network thread: what takes longer is named in the log. */
const slowCompileMs = 100;
const shownCharacters = 200;

@injectable()
export class CachingFilterRegistry implements FilterRegistry {
  readonly faults = new Map<string, number>();
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
    const { expressionType } = plugin.rule;
    for (const known of this.plugins.values()) {
      if (known.name !== plugin.name && known.rule.expressionType !== expressionType) continue;
      throw new KernelError(
        'FILTER_TAKEN',
        `filter plugin ${plugin.name} (${expressionType}) collides with ${known.name} (${known.rule.expressionType})`,
        { remedy: 'load only one of them, or give yours a name and an expression type of its own' },
      );
    }
    this.plugins.set(expressionType, plugin);
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
      return compileGuarded(plugin.rule, expression, (problem) => this.blame(plugin.name, expression, problem));
    } finally {
      const tookMs = Math.round(this.clock.monoMs() - start);
      const fields = { plugin: plugin.name, expression: shown(expression), tookMs };
      if (tookMs > slowCompileMs) this.logger.warn(fields, 'a filter plugin was slow to compile an expression');
    }
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
