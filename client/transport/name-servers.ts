import { messageOf } from '../../kernel/base/errors.js';
import type { Logger } from '../../kernel/base/logger.js';
import { ClientError, isTransportFailure } from '../errors.js';
import { parseNameServers } from './address.js';
import type { Answer, Call } from './channel.js';
import type { Transport } from './transport.js';

/** The list of name servers: one is used until it fails, then the next. */
export class NameServers {
  readonly addresses: readonly string[];
  readonly #transport: Transport;
  readonly #logger: Logger;
  #current: number;

  /** `list` is `host:port;host:port`. Clients of one application should not all begin with the same one: `random` in [0, 1). */
  constructor(list: string, transport: Transport, logger: Logger, random: number = Math.random()) {
    this.addresses = parseNameServers(list);
    this.#transport = transport;
    this.#logger = logger;
    this.#current = Math.floor(random * this.addresses.length);
  }

  /** The answer of the first name server that gives one, whatever its code. Rejects with NAMESRV_UNREACHABLE. */
  async invoke(call: Call, timeoutMs: number): Promise<Answer> {
    const problems: string[] = [];
    let cause: unknown;
    for (let tried = 0; tried < this.addresses.length; tried++) {
      const address = this.addresses[this.#current]!;
      try {
        return await this.#transport.invoke(address, call, timeoutMs);
      } catch (error) {
        if (!isTransportFailure(error)) throw error;
        problems.push(messageOf(error));
        cause = error;
        this.#rotate(address);
      }
    }
    throw new ClientError('NAMESRV_UNREACHABLE', `no name server answers: ${problems.join('; ')}`, {
      cause,
      remedy: 'check the address list and that a name server runs there',
    });
  }

  /** Only by the one that saw the current server fail: requests in parallel must not skip over a good one. */
  #rotate(failed: string): void {
    if (this.addresses[this.#current] !== failed || this.addresses.length === 1) return;
    this.#current = (this.#current + 1) % this.addresses.length;
    this.#logger.warn({ failed, next: this.addresses[this.#current] }, 'name server failed, trying the next');
  }
}
