import type { ThreadHost } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { workerUrls } from '../urls.js';
import type { ScheduleBoot } from './contract.js';

/** Started again after a death: what it had handed over is not delivered again. */
export function startSchedule(threads: ThreadHost, boot: ScheduleBoot, onRestart: () => void): Promise<RunningService> {
  return threads.run('schedule', workerUrls.schedule, boot, { onDeath: 'restart', onRestart });
}
