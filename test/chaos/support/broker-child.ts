import { renameSync, writeFileSync } from 'node:fs';
import { loadOptions } from '../../../config/load.js';
import { profileOf } from '../../../config/profiles/profile.js';
import { fromSetFlags } from '../../../config/sources.js';
import { loadTopology } from '../../../config/topology.js';
import { systemClock } from '../../../kernel/base/clock.js';
import { createLogger } from '../../../kernel/base/logger.js';
import { Kernel } from '../../../kernel/kernel.js';
import { handleSignals } from '../../../kernel/signals.js';
import { ThreadHost } from '../../../kernel/threads/contract.js';
import type { TopologyThreadHost } from '../../../kernel/threads/thread-host.js';

/** A broker as `kernel start` makes it, which ends one of its worker threads when a message says `{ terminate: <thread> }`. */
const { options } = await loadOptions({ assignments: fromSetFlags(process.argv.slice(2)) });
const logger = createLogger(options.logLevel, options.brokerName);
const kernel = await Kernel.boot({
  plugins: await profileOf(options),
  options,
  clock: systemClock,
  logger,
  topology: loadTopology(options),
  hookTimeoutMs: options.pluginTimeoutMs,
  threads: {
    hangTimeoutMs: options.workerHangTimeoutMs,
    readyTimeoutMs: options.pluginTimeoutMs,
    logLevel: options.logLevel,
  },
});
handleSignals(kernel, logger);
const host = kernel.get<ThreadHost>(ThreadHost) as TopologyThreadHost;
process.on('message', ({ terminate }: { terminate: string }) => {
  host.terminate(terminate);
  process.send?.({ terminated: terminate });
});
writeFileSync(`${options.readyFile}.tmp`, JSON.stringify({ broker: `${options.brokerIP1}:${options.listenPort}` }));
renameSync(`${options.readyFile}.tmp`, options.readyFile);
