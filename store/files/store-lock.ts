import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { KernelError, messageOf, systemCodeOf } from '../../kernel/base/errors.js';
import { nodeFiles } from './node-files.js';

/** One broker per store. */
export interface StoreLock {
  release(): Promise<void>;
}

/**
 * Takes the store whose lock file is `path` (`<root>/lock`), or throws STORE_LOCKED naming who has it, STORE_UNWRITABLE when the
 * folder cannot be made or written.
 *
 * 4.9 holds a file lock on that file (4.9: DefaultMessageStore#start). Node can take no such lock, only see it: a Java broker
 * started on a store of ours is not stopped by this. Two of ours exclude each other by a socket name made of the file's identity,
 * which ends with its process, however that ends.
 */
export async function acquireStoreLock(path: string): Promise<StoreLock> {
  const identity = prepareLockFile(path);
  const holder = findFileLock(path, identity);
  if (holder !== undefined) throw lockedError(path, `process ${holder} holds its file lock`);
  return listenExclusively(path, lockAddress(identity));
}

/** Who has a store in use, in words, or undefined when nobody seems to. Takes nothing and makes nothing. */
export async function storeHolder(path: string): Promise<string | undefined> {
  let identity: fs.BigIntStats;
  try {
    identity = fs.statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
  const holder = findFileLock(path, identity);
  if (holder !== undefined) return `process ${holder} holds its file lock`;
  return (await answers(lockAddress(identity))) ? 'an mqkernel broker on this machine has it' : undefined;
}

function prepareLockFile(path: string): fs.BigIntStats {
  try {
    nodeFiles.makeDir(dirname(path));
    const descriptor = fs.openSync(path, 'a+');
    try {
      if (fs.fstatSync(descriptor).size === 0) fs.writeSync(descriptor, 'lock');
      return fs.fstatSync(descriptor, { bigint: true });
    } finally {
      fs.closeSync(descriptor);
    }
  } catch (error) {
    throw new KernelError('STORE_UNWRITABLE', `cannot write the store folder ${dirname(path)}: ${messageOf(error)}`, {
      cause: error,
      remedy: 'choose another folder with --store, or give this user the right to write there',
    });
  }
}

function lockedError(path: string, who: string): KernelError {
  return new KernelError('STORE_LOCKED', `the store ${dirname(path)} is in use: ${who}`, {
    remedy: 'stop that broker, or choose another folder with --store',
  });
}

/** The process that holds a file lock on the file, as far as this system shows it. */
export function findFileLock(path: string, identity: fs.BigIntStats): string | undefined {
  let table: string;
  try {
    table = fs.readFileSync('/proc/locks', 'latin1');
  } catch {
    return undefined;
  }
  for (const line of table.split('\n')) {
    // `1: POSIX  ADVISORY  WRITE 4711 fd:01:1234567 0 0`; a waiter has `->` in the second place.
    const match = /^\d+:\s+(?:POSIX|OFDLCK|FLOCK)\s+\S+\s+\S+\s+(-?\d+)\s+([0-9a-f]+):([0-9a-f]+):(\d+)\s/.exec(line);
    if (match === null || match[4] !== String(identity.ino)) continue;
    const pid = match[1] ?? '';
    const device = deviceNumber(parseInt(match[2] ?? '', 16), parseInt(match[3] ?? '', 16));
    // Layered file systems show another device number here than stat does.
    if (device === identity.dev || hasOpen(pid, path)) return pid;
  }
  return undefined;
}

/** Linux: the 64-bit form of a device number. */
function deviceNumber(major: number, minor: number): bigint {
  const high = BigInt(major);
  const low = BigInt(minor);
  return (low & 0xffn) | ((high & 0xfffn) << 8n) | ((low & ~0xffn) << 12n) | ((high & ~0xfffn) << 32n);
}

function hasOpen(pid: string, path: string): boolean {
  try {
    const real = fs.realpathSync(path);
    return fs.readdirSync(`/proc/${pid}/fd`).some((name) => readLinkQuietly(`/proc/${pid}/fd/${name}`) === real);
  } catch {
    return false;
  }
}

function readLinkQuietly(path: string): string | undefined {
  try {
    return fs.readlinkSync(path);
  } catch {
    return undefined;
  }
}

function lockAddress(identity: fs.BigIntStats): string {
  const name = `mqkernel-store-${identity.dev}-${identity.ino}`;
  if (process.platform === 'linux') return `\0${name}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`;
  return join(os.tmpdir(), `${name}.sock`);
}

async function listenExclusively(path: string, address: string): Promise<StoreLock> {
  try {
    return await listen(address);
  } catch (error) {
    if (systemCodeOf(error) !== 'EADDRINUSE') throw error;
    // Only a socket with a file can outlive its process.
    if (!address.startsWith('/') || (await answers(address))) {
      throw lockedError(path, 'another mqkernel broker on this machine has it');
    }
    fs.rmSync(address, { force: true });
    return await listen(address);
  }
}

function listen(address: string): Promise<StoreLock> {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(address, () => {
      server.unref();
      resolve({ release: () => new Promise((done) => server.close(() => done())) });
    });
  });
}

function answers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
