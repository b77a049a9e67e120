import type { ThreadHost } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { workerUrls } from '../urls.js';
import type { WatchdogBoot } from './contract.js';

/** On a thread of its own in every topology: it has to run while another thread does not. */
export function startWatchdog(threads: ThreadHost, boot: WatchdogBoot): Promise<RunningService> {
  return threads.run('watchdog', workerUrls.watchdog, boot, { onDeath: 'restart', apart: true });
}
