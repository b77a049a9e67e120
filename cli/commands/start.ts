import { type Command, Option } from 'commander';
import { collect } from '../collect.js';

interface StartFlags {
  readonly config?: string;
  readonly set?: readonly string[];
  readonly [flag: string]: unknown;
}

/** `kernel start`: name server, broker, or both, in the foreground. */
export function register(program: Command): void {
  program
    .command('start')
    .description('run a name server and a broker; with -n only the broker')
    .addOption(new Option('--role <role>', 'which servers').choices(['all', 'broker', 'namesrv']))
    .option('-c, --config <file>', "settings in RocketMQ's format (broker.conf)")
    .option('-n, --namesrv-addr <list>', 'name servers to register at: host:port[;host:port]')
    .option('--plugins <list>', 'filter plugins: sql92, bitmap, a file, or a package; several separated by commas')
    .option('--topology <name>', 'which service runs on which thread: dedicated, fused, paired, or a JSON file')
    .option('--bind <address>', 'listen on this address only (default: all)')
    .option('--listen-port <port>', 'broker port P; brings P-2, P+1 and P+10 (default: 10911; 0: free ones)')
    .option('--namesrv-port <port>', 'name server port (default: 9876; 0: a free one)')
    .option('--admin-port <port>', 'port of the admin console (nothing listens there yet)')
    .option('--store <dir>', 'folder of the store (default: ~/store)')
    .option('--memory', 'keep everything in memory; nothing is left at the end')
    .option('--set <key=value>', 'any option by name, repeatable (see: kernel config print)', collect)
    .option('--ready-file <file>', 'holds the addresses as JSON while the server serves')
    .option('--log-level <level>', 'debug, info, warn, error or silent (default: info)')
    .action(async (flags: StartFlags) => {
      const [{ assignmentsOf }, { runServer }] = await Promise.all([import('../flags.js'), import('../run.js')]);
      await runServer(assignmentsOf(flags), flags.config);
    });
}
