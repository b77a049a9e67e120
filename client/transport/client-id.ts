import { randomBytes } from 'node:crypto';
import os from 'node:os';
import type { Clock } from '../../kernel/base/clock.js';
import { addressBytes } from '../../protocol/message/host.js';
import { UniqueIdGenerator } from '../../protocol/message/message-id.js';

/** The first IPv4 address of this machine that others can reach; loopback when there is none. */
export function localIPv4(): string {
  for (const addresses of Object.values(os.networkInterfaces()))
    for (const address of addresses ?? []) if (address.family === 'IPv4' && !address.internal) return address.address;
  return '127.0.0.1';
}

/**
 * `ip@pid#random`: never shared, also not by worker threads of one process or containers with equal addresses and process
 * ids. Two members of a group with one id would get the same queues and leave the others orphaned.
 */
export function uniqueClientId(): string {
  return `${localIPv4()}@${process.pid}#${randomBytes(8).toString('hex')}`;
}

/** Message ids (UNIQ_KEY) of this client. */
export function uniqueIds(clock: Clock): UniqueIdGenerator {
  return new UniqueIdGenerator({ clock, address: addressBytes(localIPv4()), pid: process.pid });
}
