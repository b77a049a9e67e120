import { inject, injectable } from '../../kernel/container.js';
import { Watermark } from '../../kernel/ring/watermarks.js';
import { Pool } from '../../kernel/threads/contract.js';
import { Options } from '../../kernel/tokens.js';
import { indexLayout } from '../../store/index/layout.js';
import type { IndexAnswer, IndexPlace } from '../../store/index/query.js';
import { SharedIndex } from '../../store/index/shared-index.js';
import { storeTasks, type StoreTasks } from '../../workers/pool/handle.js';
import { StoreState } from '../commitlog/contract.js';
import type { KeyQuery, MessageIndex } from './contract.js';

/** Queries of the index; its memory is shared with the thread that builds it. */
@injectable()
export class IndexQueries implements MessageIndex {
  readonly place: IndexPlace;
  readonly #tasks: StoreTasks;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(Pool) pool: Pool,
    @inject(Options) options: Options,
  ) {
    this.#tasks = storeTasks(pool, state.log.files);
    const { dir: logDir, temporaryDir, segmentBytes } = state.log;
    const layout = indexLayout(options.maxHashSlotNum, options.maxIndexNum);
    const memory = SharedIndex.allocate(options.messageIndexEnable ? layout.slots : 1);
    this.place = { dir: state.paths.index, layout, memory, logDir, temporaryDir, segmentBytes };
  }

  async query(query: KeyQuery): Promise<IndexAnswer> {
    const { watermarks } = this.state;
    const bounds = { logMin: watermarks.get(Watermark.logMin), logEnd: watermarks.get(Watermark.appended) };
    return this.#tasks.queryIndex({ place: this.place, query: { ...query, ...bounds } });
  }
}
