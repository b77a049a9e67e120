import { inject, injectable } from '../../kernel/container.js';
import { Logger } from '../../kernel/tokens.js';
import { StoreState } from '../commitlog/contract.js';
import type { RecordKeeper, RecordKeepers } from './contract.js';

/** Asks everybody who keeps old records to move them before their files go. The memory store forgets its oldest messages, whatever they are. */
@injectable()
export class Keepers implements RecordKeepers {
  readonly #keepers = new Map<string, RecordKeeper>();

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  add(what: string, keeper: RecordKeeper): void {
    this.#keepers.set(what, keeper);
  }

  /** Up to where nobody needs anything; rejects when somebody cannot say. */
  async clear(offset: number): Promise<number> {
    if (this.state.inMemory) return offset;
    let free = offset;
    for (const [what, keeper] of this.#keepers) {
      const reached = await keeper(offset);
      if (reached < offset)
        this.logger.warn({ what, from: reached, to: offset }, 'old files stay: not all of these could be moved');
      free = Math.min(free, reached);
    }
    return free;
  }
}
