import type { ThreadHost } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { workerUrls } from '../urls.js';
import type { FlushBoot } from './contract.js';

/** Its death ends the process: under SYNC_FLUSH nothing could be acknowledged, under ASYNC_FLUSH nothing would reach the disk. */
export function startFlush(threads: ThreadHost, boot: FlushBoot): Promise<RunningService> {
  return threads.run('flush', workerUrls.flush, boot, { onDeath: 'fatal' });
}
