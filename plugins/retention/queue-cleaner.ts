import { inject, injectable } from '../../kernel/container.js';
import { messageOf } from '../../kernel/base/errors.js';
import { QueueWord } from '../../kernel/ring/queue-table.js';
import { Pool } from '../../kernel/threads/contract.js';
import { Logger, Options } from '../../kernel/tokens.js';
import { queueFileBytes } from '../../store/consumequeue/unit.js';
import type { QueueSpan } from '../../store/retention/queue-minima.js';
import { storeTasks, type StoreTasks } from '../../workers/pool/handle.js';
import { StoreState } from '../commitlog/contract.js';
import { Queues } from '../reput/contract.js';
import { Pause } from './pause.js';

/** Queues that one pool task looks at. */
const QUEUES_PER_TASK = 512;

/** Moves the queues' first offsets after the log's, and has their old files removed (4.9: CleanConsumeQueueService). */
@injectable()
export class QueueCleaner {
  readonly #tasks: StoreTasks;
  /** Rows of queues with old files. */
  readonly #old = new Set<number>();
  #dropping: Promise<void> | undefined;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(Queues) private readonly queues: Queues,
    @inject(Pool) pool: Pool,
    @inject(Pause) private readonly pause: Pause,
    @inject(Options) private readonly options: Options,
    @inject(Logger) private readonly logger: Logger,
  ) {
    this.#tasks = storeTasks(pool, state.log.files);
  }

  /** Every queue begins where the log still has its record, or where it ends when it has none. */
  async raiseMinima(logMin: number): Promise<void> {
    const { paths, queueTable } = this.state;
    for (const spans of this.#chunks()) {
      const { moved, problems } = await this.#tasks.queueMinima({
        dir: paths.consumeQueue,
        temporaryDir: paths.temporary,
        fileBytes: queueFileBytes(this.options.mappedFileSizeConsumeQueue),
        spans,
        logMin,
      });
      if (problems.length > 0)
        this.logger.error(
          { queues: problems.length, first: problems[0] },
          'queues cannot be read: they keep their first offset, though older messages go',
        );
      for (const { row, minimum, oldFiles } of moved) {
        if (minimum > queueTable.get(row, QueueWord.minimum)) queueTable.set(row, QueueWord.minimum, minimum);
        if (oldFiles) this.#old.add(row);
      }
    }
  }

  /** Begins to remove old files, a queue after the other, when it does not do so already: nobody waits for it. */
  dropOldFiles(): void {
    if (this.#old.size === 0) return;
    this.#dropping ??= this.#dropAll().finally(() => (this.#dropping = undefined));
  }

  async stop(): Promise<void> {
    await this.#dropping;
  }

  async #dropAll(): Promise<void> {
    const { queueTable } = this.state;
    for (const row of this.#old) {
      if (this.pause.ended) return;
      const [topic, queueId] = [queueTable.topicOf(row), queueTable.queueIdOf(row)];
      try {
        const files = await this.queues.dropOldFiles(topic, queueId);
        this.#old.delete(row);
        if (files === 0) continue;
        this.logger.info({ topic, queueId, files }, 'queue files below the first offset removed');
        await this.pause.for(this.options.deleteConsumeQueueFilesInterval);
      } catch (error) {
        // The next pass tries the rest again.
        this.logger.warn({ topic, queueId, error: messageOf(error) }, 'old queue files could not be removed');
        return;
      }
    }
  }

  *#chunks(): Iterable<QueueSpan[]> {
    const { queueTable } = this.state;
    let spans: QueueSpan[] = [];
    for (const topic of queueTable.topics())
      for (const queueId of queueTable.idsOf(topic)) {
        const row = queueTable.find(topic, queueId);
        const dispatched = queueTable.get(row, QueueWord.dispatched);
        if (dispatched === 0) continue;
        spans.push({ row, topic, queueId, minimum: queueTable.get(row, QueueWord.minimum), dispatched });
        if (spans.length < QUEUES_PER_TASK) continue;
        yield spans;
        spans = [];
      }
    if (spans.length > 0) yield spans;
  }
}
