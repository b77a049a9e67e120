import type { Command } from 'commander';
import { collect } from '../collect.js';

interface DevFlags {
  readonly set?: readonly string[];
  readonly [flag: string]: unknown;
}

/** `kernel dev`: everything in one process and in memory, for this machine only. */
export function register(program: Command): void {
  program
    .command('dev')
    .description('name server and broker in memory, SQL92 on, reachable from this machine only')
    .option('--plugins <list>', 'filter plugins beside sql92')
    .option('--listen-port <port>', 'broker port (default: 10911; 0: free ones)')
    .option('--namesrv-port <port>', 'name server port (default: 9876; 0: a free one)')
    .option('--set <key=value>', 'any option by name, repeatable', collect)
    .option('--ready-file <file>', 'holds the addresses as JSON while the server serves')
    .option('--log-level <level>', 'debug, info, warn, error or silent (default: warn)')
    .action(async (flags: DevFlags) => {
      const [{ assignmentsOf }, { runServer }, { dev }, { known }] = await Promise.all([
        import('../flags.js'),
        import('../run.js'),
        import('../../config/profiles/dev.js'),
        import('../../config/sources.js'),
      ]);
      const { plugins, ...typed } = flags;
      const wanted = typeof plugins === 'string' ? [...dev.plugins, ...plugins.split(',')] : dev.plugins;
      const preset = Object.entries({ ...dev, plugins: [...new Set(wanted)] });
      await runServer([...preset.map(([name, value]) => known(name, value, 'kernel dev')), ...assignmentsOf(typed)]);
    });
}
