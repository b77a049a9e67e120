import type { Command } from 'commander';
import { collect } from '../collect.js';

interface ConfigFlags {
  readonly config?: string;
  readonly set?: readonly string[];
  readonly json?: boolean;
  readonly [flag: string]: unknown;
}

/** `kernel config print|check`: what a start with these settings would use. */
export function register(program: Command): void {
  const config = program.command('config').description('look at settings without starting anything');
  withSources(config.command('print'))
    .description('every option with its value, unit, reason and where it was set; itself a settings file')
    .option('--json', 'as one JSON array')
    .action(async (flags: ConfigFlags) => {
      const { load, printConfig } = await import('../print-config.js');
      printConfig(await load(flags, flags.config), flags.json === true);
    });
  withSources(config.command('check'))
    .description('reads the settings and says what is wrong or without effect; exit code 2 when they cannot be used')
    .action(async (flags: ConfigFlags) => {
      const { checkConfig, load } = await import('../print-config.js');
      await checkConfig(await load(flags, flags.config));
    });
}

function withSources(command: Command): Command {
  return command
    .option('-c, --config <file>', "settings in RocketMQ's format")
    .option('--role <role>', 'all, broker or namesrv')
    .option('-n, --namesrv-addr <list>', 'name servers')
    .option('--set <key=value>', 'any option by name, repeatable', collect);
}
