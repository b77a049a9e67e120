import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { addressBytes } from '../../protocol/message/host.js';
import type { StoreHost } from './contract.js';

@injectable()
export class AdvertisedHost implements StoreHost {
  readonly address: Buffer;
  readonly port: number;

  constructor(@inject(Options) options: Options) {
    // An IPv6 address may stand in brackets, as it must before a port.
    this.address = addressBytes(options.brokerIP1.replace(/^\[(.*)\]$/, '$1'));
    this.port = options.listenPort;
  }
}
