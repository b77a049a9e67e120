import { readFileSync } from 'node:fs';
import { ExitCode, KernelError, messageOf, systemCodeOf } from '../kernel/base/errors.js';
import { type OptionValue } from './declare.js';
import { hint } from './nearest.js';
import { declarations } from './options.js';
import { decodeProperties, parseProperties, PropertiesError } from './properties.js';

/** Something that somebody set: not yet parsed, with the place to name when it is wrong. */
export interface Assignment {
  readonly name: string;
  readonly raw: OptionValue;
  /** `--listen-port`, `MQKERNEL_LISTEN_PORT`, `broker.conf:12`, … */
  readonly where: string;
}

/** Something to tell the person who starts the server, once. */
export interface Notice {
  readonly level: 'info' | 'warn';
  readonly message: string;
}

export interface Found {
  readonly assignments: Assignment[];
  readonly notices: Notice[];
}

const PREFIX = 'MQKERNEL_';

/** Names without case and underscores, as environment variables may write them. */
const byPlainName = new Map([...declarations.keys()].map((name) => [plain(name), name] as const));

function plain(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

/** `NAMESRV_ADDR`, and `MQKERNEL_<NAME>` for every option: `MQKERNEL_LISTEN_PORT` and `MQKERNEL_listenPort` mean the same. */
export function fromEnvironment(env: Readonly<Record<string, string | undefined>>): Found {
  const assignments: Assignment[] = [];
  const notices: Notice[] = [];
  if (env['NAMESRV_ADDR'] !== undefined && env['NAMESRV_ADDR'] !== '')
    assignments.push({ name: 'namesrvAddr', raw: env['NAMESRV_ADDR'], where: 'NAMESRV_ADDR' });
  if (env['ROCKETMQ_HOME'] !== undefined)
    notices.push({
      level: 'info',
      message: 'ROCKETMQ_HOME is not used: settings come from -c, the store from storePathRootDir',
    });
  for (const [variable, raw] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX) || raw === undefined) continue;
    const written = variable.slice(PREFIX.length);
    const name = byPlainName.get(plain(written));
    if (name === undefined) notices.push(unknownKey(written, variable, byPlainName));
    else assignments.push({ name, raw, where: variable });
  }
  return { assignments, notices };
}

/** RocketMQ's `broker.conf`, unchanged. Throws KernelError (exit code 2) when it cannot be read. */
export function fromFile(path: string): Found {
  const assignments: Assignment[] = [];
  const notices: Notice[] = [];
  for (const { key, value, line } of readProperties(path)) {
    const where = `${path}:${line}`;
    if (declarations.has(key)) assignments.push({ name: key, raw: value, where });
    else notices.push(unknownKey(key, where, byPlainName));
  }
  return { assignments, notices };
}

function readProperties(path: string): ReturnType<typeof parseProperties> {
  try {
    return parseProperties(decodeProperties(readFileSync(path)));
  } catch (error) {
    const place =
      error instanceof PropertiesError ? `${path}:${error.line}: ${error.problem}` : `${path}: ${why(error)}`;
    throw new KernelError('CONFIG_FILE', place, {
      cause: error,
      exitCode: ExitCode.usage,
      remedy: 'the file named by -c',
    });
  }
}

function why(error: unknown): string {
  const code = systemCodeOf(error);
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'it may not be read';
  if (code === 'EISDIR') return 'it is a folder';
  return messageOf(error);
}

/** `--set key=value`, strict: an unknown key is an error, since it was typed just now. */
export function fromSetFlags(pairs: readonly string[]): Assignment[] {
  return pairs.map((pair) => {
    const separator = pair.indexOf('=');
    if (separator <= 0)
      throw new KernelError('OPTION_INVALID', `--set ${pair}: not of the form key=value`, { exitCode: ExitCode.usage });
    return known(pair.slice(0, separator).trim(), pair.slice(separator + 1), `--set ${pair}`);
  });
}

/** An assignment to an option that must exist. Throws KernelError (exit code 2) with the nearest name. */
export function known(name: string, raw: OptionValue, where: string): Assignment {
  if (!declarations.has(name))
    throw new KernelError('OPTION_UNKNOWN', `${where}: there is no option ${name}${hint(name, declarations.keys())}`, {
      exitCode: ExitCode.usage,
      remedy: 'kernel config print lists them',
    });
  return { name, raw, where };
}

function unknownKey(written: string, where: string, names: ReadonlyMap<string, string>): Notice {
  return {
    level: 'warn',
    message: `${where}: unknown key ${written} is ignored${hint(plain(written), names.values())}`,
  };
}
