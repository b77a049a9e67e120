import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { Logger } from '../../kernel/tokens.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { RequestRouter } from '../remoting/contract.js';
import { EndTransactions } from './end-transactions.js';
import { Ops } from './ops.js';

const LOOK_MS = 2;
const STOPPING = { code: ResponseCode.SERVICE_NOT_AVAILABLE, remark: 'the broker is shutting down' };

/** Transactions: halves that wait for their producer's word, and what becomes of them. */
@injectable()
export class Transaction implements PluginMain {
  #stopping = false;

  constructor(
    @inject(RequestRouter) private readonly router: RequestRouter,
    @inject(EndTransactions) private readonly ends: EndTransactions,
    @inject(Ops) private readonly ops: Ops,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  start(): void {
    this.router.handleInPlace(RequestCode.END_TRANSACTION, (request, connection) => {
      if (!this.#stopping) return this.ends.handle(request, connection);
      connection.reply(request, STOPPING);
    });
  }

  /** Takes no more, then waits until everything taken is settled. */
  async close(): Promise<void> {
    this.#stopping = true;
    while (this.ends.unsettled > 0) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    this.ops.stop();
    const { refused } = this.ops;
    if (refused > 0)
      this.logger.warn(
        { transactions: refused },
        'ends of transactions could not be noted: their producers are asked again after the next start',
      );
  }
}
