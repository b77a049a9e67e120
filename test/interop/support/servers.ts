import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Daemon } from './daemon.js';
import { javaArgs, quickStart } from './java.js';
import { freePort } from './ports.js';

const startDeadlineMs = 40_000;
/** `kernel` of the same build as this file. */
export const kernelMain = fileURLToPath(new URL('../../../cli/kernel.js', import.meta.url));

/** Broker properties by RocketMQ's names. */
export type Options = Readonly<Record<string, string | number | boolean>>;

/** One server process and the addresses it serves. */
export interface Server {
  readonly daemon: Daemon;
  /** Absent when this process is no name server. */
  readonly namesrv?: string;
  /** Absent when this process is no broker. */
  readonly broker?: string;
}

export interface KernelRequest {
  /** Exists; takes the log and the ready file. */
  readonly folder: string;
  readonly role: 'all' | 'broker' | 'namesrv';
  readonly namesrv?: string | undefined;
  readonly listenPort?: number | undefined;
  readonly namesrvPort?: number | undefined;
  readonly storeDir: string;
  readonly options: Options;
  /** Address that it listens on; 127.0.0.1 when missing. */
  readonly bind?: string | undefined;
}

/** `kernel start` from the same build as this file. */
export async function startKernel(request: KernelRequest): Promise<Server> {
  const readyFile = join(request.folder, `${request.role}.ready.json`);
  const args = [kernelMain, 'start', '--role', request.role, '--bind', request.bind ?? '127.0.0.1'];
  args.push('--ready-file', readyFile);
  if (request.role !== 'broker') args.push('--namesrv-port', String(request.namesrvPort ?? 0));
  if (request.role !== 'namesrv') {
    args.push('--listen-port', String(request.listenPort ?? 0), '--admin-port', '0', '--store', request.storeDir);
    args.push('--plugins', 'sql92');
    for (const [key, value] of Object.entries(request.options)) args.push('--set', `${key}=${value}`);
  }
  if (request.namesrv !== undefined) args.push('-n', request.namesrv);
  const log = join(request.folder, `${request.role}.log`);
  const daemon = new Daemon(`kernel start --role ${request.role}`, process.execPath, args, [log], { stdio: 'log' });
  await reach(daemon, () => existsSync(readyFile) && readyPid(readyFile) === daemon.child.pid, 'wrote its ready file');
  return { daemon, ...addresses(readyFile) };
}

function readyPid(file: string): unknown {
  const text = readFileSync(file, 'utf8');
  return text === '' ? undefined : (JSON.parse(text) as { pid?: unknown }).pid;
}

function addresses(readyFile: string): { namesrv?: string; broker?: string } {
  const { namesrv, broker } = JSON.parse(readFileSync(readyFile, 'utf8')) as { namesrv?: string; broker?: string };
  return { ...(namesrv === undefined ? {} : { namesrv }), ...(broker === undefined ? {} : { broker }) };
}

/** The real name server. */
export async function startJvmNameServer(folder: string, port?: number): Promise<Server> {
  const listenPort = port ?? (await freePort());
  const home = join(folder, 'namesrv');
  mkdirSync(home, { recursive: true });
  const conf = writeProperties(join(home, 'namesrv.conf'), { listenPort });
  const daemon = await jvm(home, 'org.apache.rocketmq.namesrv.NamesrvStartup', ['-c', conf], quickStart);
  await reach(daemon, () => daemon.log().includes('boot success'), 'the name server says "boot success"');
  return { daemon, namesrv: `127.0.0.1:${listenPort}` };
}

export interface JvmBrokerRequest {
  /** Exists; takes configuration and logs. */
  readonly folder: string;
  readonly namesrv: string;
  readonly listenPort?: number | undefined;
  readonly storeDir: string;
  readonly options: Options;
  /** Flags of the JVM; a benchmark wants others than a quick test. */
  readonly flags?: readonly string[] | undefined;
}

/** The real broker. It takes its port P, the fast port P - 2 and the HA port P + 1. */
export async function startJvmBroker(request: JvmBrokerRequest): Promise<Server> {
  const listenPort = request.listenPort ?? (await freePort([-2, 0, 1]));
  const home = join(request.folder, 'broker');
  mkdirSync(home, { recursive: true });
  const conf = writeProperties(join(home, 'broker.conf'), {
    ...request.options,
    listenPort,
    namesrvAddr: request.namesrv,
    storePathRootDir: request.storeDir,
    storePathCommitLog: join(request.storeDir, 'commitlog'),
  });
  const daemon = await jvm(home, 'org.apache.rocketmq.broker.BrokerStartup', ['-c', conf], request.flags ?? quickStart);
  await reach(daemon, () => daemon.log().includes('boot success'), 'the broker says "boot success"');
  return { daemon, broker: `127.0.0.1:${listenPort}` };
}

async function jvm(home: string, main: string, args: readonly string[], flags: readonly string[]): Promise<Daemon> {
  const log = join(home, 'stdout.log');
  const all = [...(await javaArgs(home, flags)), main, ...args];
  return new Daemon(`java ${main}`, 'java', all, [log, join(home, 'warnings.log')], { stdio: 'log' });
}

async function reach(daemon: Daemon, condition: () => boolean, what: string): Promise<void> {
  try {
    await daemon.reach(condition, what, startDeadlineMs);
  } catch (error) {
    if (daemon.end === undefined) await daemon.kill9();
    throw error;
  }
}

function writeProperties(file: string, properties: Options): string {
  const lines = Object.entries(properties).map(([key, value]) => `${key}=${value}\n`);
  writeFileSync(file, lines.join(''));
  return file;
}
