import type { ThreadHost } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { workerUrls } from '../urls.js';
import type { TransactionBoot } from './contract.js';

/** Started again after a death: it reads once more what is not settled. */
export function startTransaction(threads: ThreadHost, boot: TransactionBoot): Promise<RunningService> {
  return threads.run('transaction', workerUrls.transaction, boot, { onDeath: 'restart' });
}
