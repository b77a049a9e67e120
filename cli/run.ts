import { loadOptions, type Loaded } from '../config/load.js';
import type { Assignment } from '../config/sources.js';
import { handleSignals } from '../kernel/signals.js';
import { printer } from './printer.js';
import { type Server, startServer } from './server.js';

/** Runs a server in the foreground: prints its boot tree and addresses, then serves until a signal ends the process. */
export async function runServer(assignments: readonly Assignment[], file?: string): Promise<never> {
  const loaded = await loadOptions({ assignments, env: process.env, ...(file === undefined ? {} : { file }) });
  const server = await startServer(loaded, { onServing: (serving) => void handleSignals(serving, serving.logger) });
  printStart(server, loaded);
  return new Promise<never>(() => undefined);
}

function printStart({ tree, addresses, options }: Server, { origins }: Loaded): void {
  printer.line(tree);
  if (addresses.namesrv !== undefined) printer.line(`name server  ${addresses.namesrv}`);
  if (addresses.broker !== undefined) {
    printer.line(`broker       ${addresses.broker}  ${options.brokerName} in ${options.brokerClusterName}`);
    if (options.role === 'broker') printer.line(`registers at ${options.namesrvAddr || 'no name server'}`);
    printer.line(`store        ${options.memory ? 'in memory, gone at the end' : options.storePathRootDir}`);
    if (options.plugins.length > 0) printer.line(`plugins      ${options.plugins.join(', ')}`);
  }
  const origin = origins.get('role');
  printer.line(
    `serving as ${options.role}${origin === undefined ? '' : ` (${origin})`} after ${Math.round(performance.now())} ms`,
  );
}
