import { type Assignment, fromSetFlags, known } from '../config/sources.js';

/** Flags that stand for one option each: commander's name of the flag, the flag as typed, the option. */
const FLAGS = [
  ['role', '--role', 'role'],
  ['namesrvAddr', '-n', 'namesrvAddr'],
  ['plugins', '--plugins', 'plugins'],
  ['topology', '--topology', 'topology'],
  ['bind', '--bind', 'bindAddress'],
  ['listenPort', '--listen-port', 'listenPort'],
  ['namesrvPort', '--namesrv-port', 'namesrvListenPort'],
  ['adminPort', '--admin-port', 'adminPort'],
  ['store', '--store', 'storePathRootDir'],
  ['memory', '--memory', 'memory'],
  ['readyFile', '--ready-file', 'readyFile'],
  ['logLevel', '--log-level', 'logLevel'],
] as const;

/** What the flags of `start`, `dev` and `config` set; `--set` after the others, so that it wins. */
export function assignmentsOf(flags: {
  readonly set?: readonly string[];
  readonly [flag: string]: unknown;
}): Assignment[] {
  const named = FLAGS.flatMap(([flag, typed, option]) => {
    const value = flags[flag];
    return typeof value === 'string' || typeof value === 'boolean' ? [known(option, value, typed)] : [];
  });
  return [...named, ...fromSetFlags(flags.set ?? [])];
}
