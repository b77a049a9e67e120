import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startJvmBroker, startJvmNameServer, startKernel, type Options, type Server } from './servers.js';

/** Which implementation serves: ours, or the real one as the oracle that proves the tests. */
export type TargetKind = 'kernel' | 'jvm';

/** What `INTEROP_TARGET` asks for; `kernel` when unset. */
export const defaultKind: TargetKind = kindFrom(process.env['INTEROP_TARGET']);

function kindFrom(value: string | undefined): TargetKind {
  if (value === undefined || value === '' || value === 'kernel') return 'kernel';
  if (value === 'jvm') return 'jvm';
  throw new Error(`INTEROP_TARGET is "${value}"; it may be "kernel" (the default) or "jvm"`);
}

/** Same for both kinds, since a store may move between them: sizes are small, names fixed. */
const baseOptions: Options = {
  brokerIP1: '127.0.0.1',
  brokerIP2: '127.0.0.1',
  brokerName: 'broker-a',
  brokerClusterName: 'DefaultCluster',
  mappedFileSizeCommitLog: 64 * 1024 * 1024,
  maxHashSlotNum: 50_000,
  maxIndexNum: 200_000,
};

/** Whatever the disk of this machine is like. */
const noDiskMarks: Options = { diskSpaceWarningLevelRatio: 100, diskSpaceCleanForciblyRatio: 100 };

export interface TargetRequest {
  readonly kind?: TargetKind;
  /** Broker properties over the suite's own. */
  readonly options?: Options;
  /** Kept when the target ends; without it the store is temporary. */
  readonly storeDir?: string;
  /** Serve where an earlier target served, so that its clients find this one. */
  readonly sameAddressesAs?: Target;
  /** A name server of another process; the target then is the broker alone. May be a list with ';'. */
  readonly namesrv?: string;
  /** Address that our servers listen on; the real ones listen on all. */
  readonly bind?: string;
  /** Flags of a JVM broker. */
  readonly jvmFlags?: readonly string[];
}

/** A running name server with a running broker. */
export interface Target {
  readonly kind: TargetKind;
  /** host:port, or the list given. */
  readonly namesrv: string;
  /** host:port. */
  readonly broker: string;
  readonly brokerName: string;
  readonly clusterName: string;
  /** Process id of the broker. */
  readonly brokerPid: number;
  stop(): Promise<void>;
  kill9(): Promise<void>;
}

/** A running name server alone. */
export interface NameServer {
  readonly address: string;
  stop(): Promise<void>;
}

/** With the folder of each. */
const living = new Map<Server, string>();
/** Ends of the logs of servers that ended since the last report; their files are gone. */
const lastWords: string[] = [];

/** The ends of the logs of all servers that ran since the last call: for the report of a failed test. */
export function serverLogTails(): string {
  const running = [...living.keys()].map((server) => server.daemon.logTail());
  return [...lastWords.splice(0), ...running].join('\n');
}

/** Ends what failed tests left running. */
export async function endLivingServers(): Promise<void> {
  for (const [server, folder] of [...living].reverse()) await endAll([server], folder, 'kill9');
}

/** Starts the servers and waits until they serve; a failure shows the end of the log and leaves nothing behind. */
export async function startTarget(request: TargetRequest = {}): Promise<Target> {
  const kind = request.kind ?? defaultKind;
  const folder = mkdtempSync(join(tmpdir(), 'mqkernel-target-'));
  const servers: Server[] = [];
  try {
    const start = kind === 'kernel' ? startKernelServers : startJvmServers;
    await start(request, folder, servers);
  } catch (error) {
    await endAll(servers, folder, 'kill9');
    throw error;
  }
  const broker = servers.find((server) => server.broker !== undefined);
  const namesrv = request.namesrv ?? servers.find((server) => server.namesrv !== undefined)?.namesrv;
  if (broker?.broker === undefined || namesrv === undefined)
    throw new Error('the target names no broker or name server');
  return {
    kind,
    namesrv,
    broker: broker.broker,
    brokerName: String(request.options?.['brokerName'] ?? baseOptions['brokerName']),
    clusterName: String(request.options?.['brokerClusterName'] ?? baseOptions['brokerClusterName']),
    brokerPid: broker.daemon.child.pid ?? 0,
    stop: () => endAll(servers, folder, 'stop'),
    kill9: () => endAll(servers, folder, 'kill9'),
  };
}

/** A name server alone, for several of them, or one of the other kind than the broker. */
export async function startNameServer(kind: TargetKind = defaultKind): Promise<NameServer> {
  const folder = mkdtempSync(join(tmpdir(), 'mqkernel-target-'));
  const servers: Server[] = [];
  try {
    const start =
      kind === 'jvm'
        ? startJvmNameServer(folder)
        : startKernel({ folder, role: 'namesrv', storeDir: folder, options: {} });
    const { namesrv } = add(servers, folder, await start);
    if (namesrv === undefined) throw new Error('the name server does not say its address');
    return { address: namesrv, stop: () => endAll(servers, folder, 'stop') };
  } catch (error) {
    await endAll(servers, folder, 'kill9');
    throw error;
  }
}

async function startKernelServers(request: TargetRequest, folder: string, servers: Server[]): Promise<void> {
  const before = request.sameAddressesAs;
  add(
    servers,
    folder,
    await startKernel({
      folder,
      role: request.namesrv === undefined ? 'all' : 'broker',
      namesrv: request.namesrv,
      listenPort: before && portOf(before.broker),
      namesrvPort: before && portOf(before.namesrv),
      storeDir: request.storeDir ?? join(folder, 'store'),
      options: { ...baseOptions, ...noDiskMarks, ...request.options },
      bind: request.bind,
    }),
  );
}

async function startJvmServers(request: TargetRequest, folder: string, servers: Server[]): Promise<void> {
  const before = request.sameAddressesAs;
  let namesrv = request.namesrv;
  if (namesrv === undefined) {
    const server = add(servers, folder, await startJvmNameServer(folder, before && portOf(before.namesrv)));
    namesrv = server.namesrv ?? '';
  }
  add(
    servers,
    folder,
    await startJvmBroker({
      folder,
      namesrv,
      listenPort: before && portOf(before.broker),
      storeDir: request.storeDir ?? join(folder, 'store'),
      options: { ...baseOptions, ...request.options },
      flags: request.jvmFlags,
    }),
  );
}

function add(servers: Server[], folder: string, server: Server): Server {
  servers.push(server);
  living.set(server, folder);
  return server;
}

/** Broker before name server, as an operator would; folders go last. */
async function endAll(servers: Server[], folder: string, how: 'stop' | 'kill9'): Promise<void> {
  try {
    for (const server of [...servers].reverse()) {
      if (server.daemon.end === undefined) await server.daemon[how]();
      if (living.delete(server)) lastWords.push(server.daemon.logTail());
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}
