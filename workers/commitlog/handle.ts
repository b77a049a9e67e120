import type { ThreadHost } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { workerUrls } from '../urls.js';
import type { CommitLogBoot } from './contract.js';

/** The writer's death ends the process: without it nothing may be acknowledged. */
export function startCommitLog(threads: ThreadHost, boot: CommitLogBoot): Promise<RunningService> {
  return threads.run('commitlog', workerUrls.commitlog, boot, { onDeath: 'fatal' });
}
