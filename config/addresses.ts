import type { Machine } from './machine.js';

const ANY = ['', '0.0.0.0', '::'];

/** What brokerIP1 is when nobody sets it. */
export function advertisedAddress(bindAddress: string, machine: Machine): string {
  return ANY.includes(bindAddress) ? localAddress(machine) : bracketed(bindAddress);
}

/** Where a server that listens on `bindAddress` is reached from its own process. */
export function ownHost(bindAddress: string): string {
  if (!ANY.includes(bindAddress)) return bracketed(bindAddress);
  return bindAddress === '::' ? '[::1]' : '127.0.0.1';
}

function bracketed(address: string): string {
  return address.includes(':') && !address.startsWith('[') ? `[${address}]` : address;
}

/** The address that others are told, chosen as the original does (4.9: RemotingUtil#getLocalAddress). */
function localAddress(machine: Machine): string {
  const outward = machine.addresses().filter((entry) => !entry.internal);
  const v4 = outward.filter((entry) => entry.family === 'IPv4').map((entry) => entry.address);
  const preferred = v4.find((address) => !address.startsWith('127.0') && !address.startsWith('192.168'));
  if (preferred !== undefined) return preferred;
  const last = v4.at(-1);
  if (last !== undefined) return last;
  const v6 = outward.find((entry) => entry.family === 'IPv6');
  return v6 === undefined ? '127.0.0.1' : `[${v6.address}]`;
}

/** True for an address that only this machine can reach. */
export function isLoopback(address: string): boolean {
  return /^127\.|^\[?::1\]?$|^localhost$/i.test(address);
}
