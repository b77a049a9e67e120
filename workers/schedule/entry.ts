import { LevelWords } from '../../kernel/ring/level-words.js';
import { TimerWords } from '../../kernel/ring/timer-words.js';
import { QueueTable } from '../../kernel/ring/queue-table.js';
import { Watermarks } from '../../kernel/ring/watermarks.js';
import type { ServiceFactory } from '../../kernel/threads/service.js';
import { Segments } from '../../store/commitlog/segments.js';
import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { nodeFiles } from '../../store/files/node-files.js';
import type { ScheduleBoot } from './contract.js';
import { Delivery } from './delivery.js';
import { Level } from './level.js';
import { Mover } from './mover.js';
import { Records } from './records.js';
import { Scheduler } from './scheduler.js';
import { TimerQueue } from './timer-queue.js';
import { Timers } from './timers.js';

const create: ServiceFactory<ScheduleBoot> = (boot, context) => {
  const files = boot.log.files ?? nodeFiles;
  const watermarks = new Watermarks(boot.watermarks);
  const table = new QueueTable(boot.queueTable);
  const words = new LevelWords(boot.levels);
  const segments = new Segments(files, boot.log.dir, boot.log.temporaryDir, boot.log.segmentBytes);
  segments.open('read');
  const queues = new QueueFiles({
    files,
    dir: boot.queueDir,
    temporaryDir: boot.log.temporaryDir,
    fileBytes: boot.queueFileBytes,
    openMax: boot.queueFilesOpenMax,
    mode: 'read',
    ext: boot.ext,
  });
  const records = (): Records => new Records(segments, watermarks);
  const levels = boot.delayLevelsMs.map(
    (delayMs, queueId) => new Level({ queueId, delayMs, queues, table, words, records: records(), context }),
  );
  const queue = new TimerQueue({ queues, table, watermarks, records: records(), context });
  const timers = new Timers({ queue, words: new TimerWords(boot.timers), records: records(), context });
  const sources = [...levels, timers];
  const delivery = new Delivery(boot.store, boot.ledger, sources, context.logger);
  const mover = new Mover(sources, delivery);
  return new Scheduler({ watermarks, segments, queues, sources, timers, delivery, mover }, context);
};
export default create;
