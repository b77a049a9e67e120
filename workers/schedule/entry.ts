import { LevelWords } from '../../kernel/ring/level-words.js';
import { QueueTable } from '../../kernel/ring/queue-table.js';
import { Watermarks } from '../../kernel/ring/watermarks.js';
import type { ServiceFactory } from '../../kernel/threads/service.js';
import { Segments } from '../../store/commitlog/segments.js';
import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { nodeFiles } from '../../store/files/node-files.js';
import type { ScheduleBoot } from './contract.js';
import { Delivery } from './delivery.js';
import { Level } from './level.js';
import { Records } from './records.js';
import { Scheduler } from './scheduler.js';

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
  const sources = boot.delayLevelsMs.map((delayMs, queueId) => {
    const records = new Records(segments, watermarks);
    return new Level({ queueId, delayMs, queues, table, words, records, context });
  });
  const delivery = new Delivery(boot.store, boot.ledger, sources, context.logger);
  return new Scheduler({ watermarks, segments, queues, sources, delivery }, context);
};
export default create;
