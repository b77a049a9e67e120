import type { Clock } from '../../kernel/base/clock.js';
import type { Logger } from '../../kernel/base/logger.js';
import { CallBoard } from '../../kernel/ring/call-board.js';
import { CallWatch } from './call-watch.js';
import type { CompiledFilter, FilterRule, FilterThread } from './contract.js';
import { FilterCounts } from './counts.js';
import { compileGuarded } from './guard.js';

const SHOWN_CHARACTERS = 200;

/** A plugin as a thread that asks it knows it. */
export interface KnownFilter {
  readonly name: string;
  readonly rule: FilterRule;
  /** Among the broker's filter plugins. */
  readonly number: number;
  /** Not built in: its calls are watched. */
  readonly foreign: boolean;
}

/** Memory of a thread that will ask filters. */
export function filterThread(): FilterThread {
  return { calls: CallBoard.allocate(), counts: FilterCounts.allocate() };
}

/**
 * Compiles for one thread. What it returns never throws and answers only true or false; a plugin that breaks its contract, or blocks
 * the thread, is named in the log and counted.
 */
export class FilterCompiler {
  readonly #watch: CallWatch;
  readonly #counts: FilterCounts;

  constructor(
    private readonly logger: Logger,
    clock: Clock,
    thread: FilterThread,
  ) {
    this.#watch = new CallWatch(clock, thread.calls);
    this.#counts = new FilterCounts(thread.counts);
  }

  /** Throws FilterError. `onBlocked` hears of a call that blocked the thread, when it has returned. */
  compile(plugin: KnownFilter, expression: string, onBlocked?: () => void): CompiledFilter {
    const { name, rule, number, foreign } = plugin;
    const about = { plugin: name, expression: shown(expression) };
    const compile = (): CompiledFilter =>
      compileGuarded(rule, expression, (problem) => {
        this.#blame(number, { ...about, problem });
      });
    if (!foreign) return compile();
    return this.#watch.compile(`filter plugin ${name} with the expression ${about.expression}`, compile, (forMs) => {
      this.#counts.addBlock(number);
      this.logger.error({ ...about, forMs }, 'a filter plugin has blocked its thread');
      onBlocked?.();
    });
  }

  /** Counts all, logs the first, the tenth, the hundredth …, so that a broken rule cannot fill the log. */
  #blame(number: number, about: object): void {
    const count = this.#counts.addFault(number);
    if (/^10*$/.test(String(count))) this.logger.error({ ...about, count }, 'a filter plugin broke its contract');
  }
}

/** As much of an expression as a log line has room for. */
export function shown(text: string): string {
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}
