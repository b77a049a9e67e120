import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, hostname, networkInterfaces, totalmem } from 'node:os';

/** What derived options ask the machine; a test gives its own. */
export interface Machine {
  hostName(): string;
  homeDir(): string;
  totalMemoryBytes(): number;
  /** Addresses of real interfaces (no bridges), in the order of the system. */
  addresses(): readonly { readonly address: string; readonly family: 'IPv4' | 'IPv6'; readonly internal: boolean }[];
  /** Whether a server could listen there now. */
  isPortFree(port: number, bindAddress: string): Promise<boolean>;
  /** At least 0, below 1. */
  random(): number;
}

export const thisMachine: Machine = {
  hostName: hostname,
  homeDir: homedir,
  totalMemoryBytes: totalmem,
  addresses: () =>
    Object.entries(networkInterfaces()).flatMap(([name, infos]) =>
      isBridge(name) ? [] : (infos ?? []).map(({ address, family, internal }) => ({ address, family, internal })),
    ),
  isPortFree: (port, bindAddress) =>
    new Promise((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen({ port, ...(bindAddress === '' ? {} : { host: bindAddress }), exclusive: true }, () =>
        server.close(() => resolve(true)),
      );
    }),
  random: Math.random,
};

/** 4.9: RemotingUtil#isBridge. */
function isBridge(name: string): boolean {
  return existsSync(`/sys/class/net/${name}/bridge`);
}
