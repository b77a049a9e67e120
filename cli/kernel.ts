#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { ExitCode, KernelError } from '../kernel/base/errors.js';
import { printer } from './printer.js';
import { packageVersion } from './version.js';

type CommandModule = { register(program: Command): void };

/** One file each; only the one that is asked for is loaded, so that a start does not pay for the others. */
const commands: Readonly<Record<string, () => Promise<CommandModule>>> = {
  start: () => import('./commands/start.js'),
  dev: () => import('./commands/dev.js'),
  config: () => import('./commands/config.js'),
  produce: () => import('./commands/produce.js'),
  consume: () => import('./commands/consume.js'),
  bench: () => import('./commands/bench.js'),
  store: () => import('./commands/store.js'),
};

const EXIT_CODES = `
Exit codes:
  0   done
  1   failed: what and why is on standard error
  2   usage: a flag, an option or a file that cannot be used
  70  the thread that writes or flushes messages ended; nothing was acknowledged after it
  71  a second signal ended the process before its stop was over`;

async function main(args: readonly string[]): Promise<void> {
  const program = new Command('kernel')
    .description('a message broker, compatible with Apache RocketMQ 4.9.7 on the wire and on disk')
    .version(packageVersion())
    .addHelpText('after', EXIT_CODES)
    .showSuggestionAfterError()
    .exitOverride();
  for (const command of await commandsFor(args[0])) command.register(program);
  await program.parseAsync(args, { from: 'user' });
}

async function commandsFor(name: string | undefined): Promise<CommandModule[]> {
  const wanted = name !== undefined && Object.hasOwn(commands, name) ? [commands[name]!] : Object.values(commands);
  return Promise.all(wanted.map((load) => load()));
}

/** commander has written its own line by then; help and version are no failure. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.done : ExitCode.usage;
  printer.error(error);
  return error instanceof KernelError ? error.exitCode : ExitCode.failed;
}

main(process.argv.slice(2)).then(
  () => process.exit(),
  (error: unknown) => process.exit(exitCodeOf(error)),
);
