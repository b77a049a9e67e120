import type { OptionValue } from '../config/declare.js';
import { loadOptions } from '../config/load.js';
import type { Options } from '../config/options.js';
import { known } from '../config/sources.js';
import type { KernelError } from '../kernel/base/errors.js';
import { type Server, startServer } from './server.js';

export type { Options } from '../config/options.js';
export { KernelError } from '../kernel/base/errors.js';

export interface EmbeddedOptions {
  /** Keeps messages in memory, on the caller's thread. True when `storeDir` is not given. */
  readonly memory?: boolean;
  /** Broker port; 0, the default, takes a free one. */
  readonly port?: number;
  /** Name server port; 0, the default, takes a free one. */
  readonly namesrvPort?: number;
  /** Folder of the store. */
  readonly storeDir?: string;
  /** Filter plugins as for `--plugins`, such as `sql92`. */
  readonly plugins?: readonly string[];
  /** Any other option by name; these win. Environment variables and files are not read. */
  readonly options?: Partial<Options>;
  /** A thread died that nothing can go on without. The broker stops by itself; the process goes on. */
  readonly onFatal?: (error: KernelError) => void;
}

export interface EmbeddedBroker extends AsyncDisposable {
  /** `host:port` for clients; empty when another process is the name server. */
  readonly namesrvAddress: string;
  /** `host:port`. */
  readonly brokerAddress: string;
  readonly options: Options;
  /** Ends what is in flight and releases everything; joins an earlier call. */
  stop(): Promise<void>;
}

/**
 * A name server and a broker in this process, on loopback and free ports unless said otherwise.
 *
 *     await using broker = await startBroker({ memory: true });
 *     const producer = new Producer({ namesrvAddr: broker.namesrvAddress, … });
 *
 * Throws KernelError naming what could not be used or started; nothing runs then.
 */
export async function startBroker(wishes: EmbeddedOptions = {}): Promise<EmbeddedBroker> {
  const loaded = await loadOptions({
    assignments: Object.entries(settingsOf(wishes)).map(([name, value]) => known(name, value, 'startBroker')),
  });
  const seen: { died?: KernelError; server?: Server } = {};
  const server = await startServer(loaded, {
    onFatal(error) {
      seen.died = error;
      wishes.onFatal?.(error);
      // Errors of this stop are logged by the kernel; there is nobody left to tell.
      seen.server?.stop(error.message).catch(() => undefined);
    },
  });
  seen.server = server;
  if (seen.died !== undefined) {
    await server.stop('a thread died during the start').catch(() => undefined);
    throw seen.died;
  }
  const stop = (): Promise<void> => server.stop('stopped by the program');
  return {
    namesrvAddress: server.addresses.namesrv ?? '',
    brokerAddress: server.addresses.broker ?? '',
    options: server.options,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function settingsOf(wishes: EmbeddedOptions): Record<string, OptionValue> {
  const { memory, port, namesrvPort, storeDir, plugins, options } = wishes;
  return {
    role: 'all',
    bindAddress: '127.0.0.1',
    logLevel: 'error',
    memory: memory ?? storeDir === undefined,
    listenPort: port ?? 0,
    namesrvListenPort: namesrvPort ?? 0,
    ...(storeDir === undefined ? {} : { storePathRootDir: storeDir }),
    ...(plugins === undefined ? {} : { plugins }),
    ...options,
  };
}
