import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { KernelError, messageOf, systemCodeOf } from '../kernel/base/errors.js';
import { type Machine, thisMachine } from '../config/machine.js';
import type { Options } from '../config/options.js';

/** What can be seen to fail before anything is made. Throws KernelError; so a start that must fail leaves nothing behind. */
export async function preflight(options: Options, machine: Machine = thisMachine): Promise<void> {
  for (const [server, name, port] of portsOf(options))
    await checkPort(server, name, port, options.bindAddress, machine);
  if (options.role !== 'namesrv' && !options.memory)
    for (const name of ['storePathRootDir', 'storePathCommitLog'] as const) checkFolder(name, options[name]);
}

function portsOf(options: Options): [server: string, name: string, port: number][] {
  const broker: [string, string, number][] = [
    ['broker', 'listenPort', options.listenPort],
    ['broker', 'fastListenPort', options.fastListenPort],
  ];
  const namesrv: [string, string, number][] = [['name server', 'namesrvListenPort', options.namesrvListenPort]];
  return [...(options.role === 'broker' ? [] : namesrv), ...(options.role === 'namesrv' ? [] : broker)];
}

async function checkPort(server: string, name: string, port: number, address: string, machine: Machine): Promise<void> {
  if (await machine.isPortFree(port, address)) return;
  const where = `${address === '' ? 'all addresses' : address} port ${port}`;
  throw new KernelError(
    'PORT_IN_USE',
    `the ${server} cannot listen on ${where} (${name}): the port is in use, or the address is not here`,
    {
      remedy: 'choose another port, 0 for a free one, or end what uses it',
    },
  );
}

/** The folder itself, or the nearest one above it that exists, must be one that can be written to. */
function checkFolder(name: string, path: string): void {
  let folder = resolve(path);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    if (!statSync(folder).isDirectory()) throw new Error('it is not a folder');
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = systemCodeOf(error) === 'EACCES' ? 'no permission to write' : messageOf(error);
    throw new KernelError('STORE_UNWRITABLE', `${name} ${path}: ${folder}: ${why}`, {
      cause: error,
      remedy: 'choose another folder with --store, or --memory to keep nothing',
    });
  }
}
