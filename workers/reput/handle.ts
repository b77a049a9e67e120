import type { ThreadHost } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { workerUrls } from '../urls.js';
import type { ReputBoot } from './contract.js';

/** Started again after a death: it goes on from `dispatched`, and doing something twice changes nothing. */
export function startReput(threads: ThreadHost, boot: ReputBoot, onRestart: () => void): Promise<RunningService> {
  return threads.run('reput', workerUrls.reput, boot, { onDeath: 'restart', onRestart });
}
