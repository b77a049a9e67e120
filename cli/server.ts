import { ownHost } from '../config/addresses.js';
import type { Loaded } from '../config/load.js';
import type { Options } from '../config/options.js';
import { profileOf } from '../config/profiles/profile.js';
import { loadTopology } from '../config/topology.js';
import { systemClock } from '../kernel/base/clock.js';
import type { KernelError } from '../kernel/base/errors.js';
import { createLogger, type Logger } from '../kernel/base/logger.js';
import { Kernel } from '../kernel/kernel.js';
import { BarProgress } from './progress-bar.js';
import { preflight } from './preflight.js';
import { type Addresses, removeReadyFile, writeReadyFile } from './ready-file.js';

/** A server of this process that serves. */
export interface Server {
  readonly options: Options;
  readonly addresses: Addresses;
  readonly logger: Logger;
  /** What started in which order, for people. */
  readonly tree: string;
  /** Ends what is in flight, flushes, releases; joins an earlier call. */
  stop(reason: string): Promise<void>;
  stuckThreads(): string[];
}

/** What the caller of `startServer` wants to be told. */
export interface ServerEvents {
  /** A part died that nothing can go on without; by default that ends the process. */
  readonly onFatal?: (error: KernelError) => void;
  /** It serves, and the ready file does not say so yet: who reads that file may end the server at once. */
  readonly onServing?: (server: Server) => void;
}

/** Boots what the options say and writes the ready file. Throws KernelError with everything released again. */
export async function startServer(loaded: Loaded, { onFatal, onServing }: ServerEvents = {}): Promise<Server> {
  const { options } = loaded;
  const logger = createLogger(options.logLevel, options.role === 'namesrv' ? 'namesrv' : options.brokerName);
  const plugins = await profileOf(options);
  const topology = loadTopology(options);
  await preflight(options);
  for (const { level, message } of loaded.notices) logger[level]({}, message);
  const kernel = await Kernel.boot({
    plugins,
    options,
    clock: systemClock,
    logger,
    topology,
    // Elsewhere the log tells it: standard output is for results.
    ...(process.stderr.isTTY ? { progress: new BarProgress(systemClock, process.stderr) } : {}),
    hookTimeoutMs: options.pluginTimeoutMs,
    threads: {
      hangTimeoutMs: options.workerHangTimeoutMs,
      readyTimeoutMs: options.pluginTimeoutMs,
      logLevel: options.logLevel,
    },
    ...(onFatal === undefined ? {} : { onFatal }),
  });
  const addresses = addressesOf(options);
  const readyFile = announce(options.readyFile, addresses);
  const server: Server = {
    options,
    addresses,
    logger,
    tree: kernel.tree,
    stop(reason) {
      readyFile.remove();
      return kernel.stop(reason);
    },
    stuckThreads: () => kernel.stuckThreads(),
  };
  onServing?.(server);
  try {
    readyFile.write();
  } catch (error) {
    await kernel.stop('the ready file could not be written');
    throw error;
  }
  return server;
}

function addressesOf(options: Options): Addresses {
  return {
    ...(options.role === 'broker' ? {} : { namesrv: `${ownHost(options.bindAddress)}:${options.namesrvListenPort}` }),
    ...(options.role === 'namesrv' ? {} : { broker: `${options.brokerIP1}:${options.listenPort}` }),
  };
}

/** The ready file goes with the process, however that ends by itself. */
function announce(path: string, addresses: Addresses): { write(): void; remove(): void } {
  const remove = (): void => removeReadyFile(path);
  return {
    write() {
      if (path === '') return;
      writeReadyFile(path, addresses);
      process.on('exit', remove);
    },
    remove() {
      if (path === '') return;
      remove();
      process.off('exit', remove);
    },
  };
}
