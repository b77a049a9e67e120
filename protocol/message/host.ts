import { isIPv4 } from 'node:net';
import { ProtocolError } from '../errors.js';

/** The address of 4 or 16 bytes as text; IPv6 in full, as Java prints it. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups: string[] = [];
  for (let at = 0; at < 16; at += 2)
    groups.push((((bytes[at] as number) << 8) | (bytes[at + 1] as number)).toString(16));
  return groups.join(':');
}

/** `host:port`, an IPv6 host in brackets. */
export function hostText(bytes: Uint8Array, port: number): string {
  return bytes.length === 4 ? `${addressText(bytes)}:${port}` : `[${addressText(bytes)}]:${port}`;
}

/** Bytes of an address. IPv4 mapped into IPv6 becomes plain IPv4, since a record must not be flagged as IPv6 for it (B33). */
export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const groups = expandedGroups(address.replace(/%.*$/, ''));
  if (groups === undefined) throw new ProtocolError(`not an IP address: ${JSON.stringify(address.slice(0, 60))}`);
  const bytes = Buffer.alloc(16);
  groups.forEach((group, index) => bytes.writeUInt16BE(group, index * 2));
  const mapped = bytes.subarray(0, 10).every((byte) => byte === 0) && bytes.readUInt16BE(10) === 0xffff;
  return mapped ? bytes.subarray(12) : bytes;
}

function expandedGroups(address: string): number[] | undefined {
  const halves = address.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(parseGroups);
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  if (tail === undefined) return head.length === 8 ? head : undefined;
  const missing = 8 - head.length - tail.length;
  return missing < 1 ? undefined : [...head, ...new Array<number>(missing).fill(0), ...tail];
}

function parseGroups(part: string): number[] | undefined {
  if (part === '') return [];
  const groups: number[] = [];
  for (const word of part.split(':')) {
    if (isIPv4(word)) {
      const [a, b, c, d] = word.split('.').map(Number) as [number, number, number, number];
      groups.push((a << 8) | b, (c << 8) | d);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(word)) groups.push(parseInt(word, 16));
    else return undefined;
  }
  return groups;
}
