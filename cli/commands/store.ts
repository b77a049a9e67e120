import { type Command, Option } from 'commander';
import { collect } from '../collect.js';
import { wholeNumber } from './whole-number.js';

interface SizeFlags {
  readonly config?: string;
  readonly set?: readonly string[];
  readonly [flag: string]: unknown;
}

export interface VerifyFlags extends SizeFlags {
  readonly all?: boolean;
  readonly json?: boolean;
}

export interface DumpFlags extends SizeFlags {
  readonly topic?: string;
  readonly queue?: number;
  readonly from?: number;
  readonly count: number;
  readonly at?: number;
  readonly body?: 'preview' | 'full' | 'hex' | 'none';
  readonly json?: boolean;
}

const SIZES = `
Sizes of files are found from the store itself; where that fails, name the settings it was made with:
-c broker.conf, or --set mappedFileSizeCommitLog=…, mappedFileSizeConsumeQueue=…, maxHashSlotNum=…, maxIndexNum=…;
a log in a folder of its own: --set storePathCommitLog=….`;

const VERIFY_HELP = `
Reads the commit log (every record: sizes, place, checksum of its body), the queues (each unit against its record, each
record against its unit), the index of keys, the checkpoint and config/*.json. Stores of RocketMQ 4.9 are read as well.
Nothing is changed and no lock is taken; while a broker runs on the store, what is found is told as notes.
A torn end that a crash or a power cut leaves is no damage: the next start cuts it.
${SIZES}

Exit codes: 0 no damage, 1 damage, 2 usage.`;

const DUMP_HELP = `
Without --topic it lists all queues with the range of their offsets, with --topic alone those of that topic.
Nothing is changed; a damaged store and one that is in use are read as far as they go.
${SIZES}

Examples:
  kernel store dump ~/store
  kernel store dump ~/store --topic Orders --queue 0 --from 1200 --count 5
  kernel store dump ~/store --at 73401 --body full`;

const STORE_HELP = `
Both read stores of this broker and of RocketMQ 4.9, change nothing, and may be used while a broker runs.
kernel store verify --help and kernel store dump --help say more.

Examples:
  kernel store verify ~/store --all
  kernel store dump ~/store --topic Orders --queue 0 --from 1200 --count 5

Exit codes: 0 done, 1 damage found or what was asked for is not there, 2 usage.`;

const OFFSET_MAX = Number.MAX_SAFE_INTEGER;

/** `kernel store verify|dump`: looks into a store's files without starting a broker. */
export function register(program: Command): void {
  const store = program
    .command('store')
    .description('look into the files of a store without starting a broker')
    .addHelpText('after', STORE_HELP);
  withSizes(store.command('verify').argument('<dir>', 'folder of the store (storePathRootDir)'))
    .description('read everything and say what is damaged; exit code 1 when something is')
    .option('--all', 'go on behind the first damage')
    .option('--json', 'one JSON object with all counts and findings')
    .addHelpText('after', VERIFY_HELP)
    .action(async (dir: string, flags: VerifyFlags) => (await import('../store-verify.js')).verify(dir, flags));
  withSizes(store.command('dump').argument('<dir>', 'folder of the store (storePathRootDir)'))
    .description('print the messages of a queue, one message by its physical offset, or what queues there are')
    .option('-t, --topic <topic>', 'topic')
    .option('-q, --queue <id>', 'queue', wholeNumber(0, 2 ** 31 - 1))
    .option('--from <offset>', 'first queue offset (default: the first one that is there)', wholeNumber(0, OFFSET_MAX))
    .option('--count <messages>', 'how many', wholeNumber(1, OFFSET_MAX), 10)
    .option('--at <offset>', 'the message at this physical offset instead', wholeNumber(0, OFFSET_MAX))
    .addOption(
      new Option(
        '--body <how>',
        'preview: its beginning; hex: all in hex digits (default: preview, with --json full)',
      ).choices(['preview', 'full', 'hex', 'none']),
    )
    .option('--json', 'one JSON object a line, with all fields')
    .addHelpText('after', DUMP_HELP)
    .action(async (dir: string, flags: DumpFlags) => (await import('../store-dump.js')).dump(dir, flags));
}

function withSizes(command: Command): Command {
  return command
    .option('-c, --config <file>', "settings of the store's broker, in RocketMQ's format")
    .option('--set <key=value>', 'one of its settings, repeatable', collect);
}
