import type { Clock } from '../../kernel/base/clock.js';
import { CallBoard } from '../../kernel/ring/call-board.js';
import type { CompiledFilter } from './contract.js';

/** Told of each call that the watchdog named, when it has returned. */
export type OnBlocked = (blockedMs: number) => void;

/** Writes down every call into a filter that is not built in, so that the watchdog can name one that does not return. */
export class CallWatch {
  readonly #board: CallBoard;

  /** `memory`: of a `CallBoard` that the watchdog has; one for each thread. */
  constructor(
    private readonly clock: Clock,
    memory: SharedArrayBuffer,
  ) {
    this.#board = new CallBoard(memory);
  }

  /** `compile` may throw; the functions of what it returns may not. */
  compile(name: string, compile: () => CompiledFilter, onBlocked: OnBlocked): CompiledFilter {
    const call = this.#board.call(name);
    this.#board.enter(call);
    try {
      return this.#watched(compile(), call, onBlocked);
    } finally {
      this.#leave(onBlocked);
    }
  }

  #watched(filter: CompiledFilter, call: number, onBlocked: OnBlocked): CompiledFilter {
    const board = this.#board;
    const { matchesTagsCode, matches } = filter;
    return {
      ...filter,
      ...(matchesTagsCode && {
        matchesTagsCode: (tagsCode, extension) => {
          board.enter(call);
          const answer = matchesTagsCode(tagsCode, extension);
          this.#leave(onBlocked);
          return answer;
        },
      }),
      ...(matches && {
        matches: (properties) => {
          board.enter(call);
          const answer = matches(properties);
          this.#leave(onBlocked);
          return answer;
        },
      }),
    };
  }

  #leave(onBlocked: OnBlocked): void {
    if (this.#board.leave()) onBlocked(this.#board.blockedMs(this.clock.monoMs()));
  }
}
