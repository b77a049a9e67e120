import { ClientError } from '../errors.js';

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Reads `host:port`; an IPv6 host may stand in brackets. Throws ILLEGAL_ARGUMENT. */
export function parseAddress(text: string): HostPort {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, Math.max(colon, 0)).replace(/^\[(.*)\]$/, '$1');
  const digits = text.slice(colon + 1);
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  if (host === '' || port < 1 || port > 65535)
    throw new ClientError('ILLEGAL_ARGUMENT', `"${text}" is not an address`, { remedy: 'write host:port' });
  return { host, port };
}

/** Reads a name server list, `host:port;host:port`. Throws ILLEGAL_ARGUMENT for an empty list or a bad entry. */
export function parseNameServers(text: string): string[] {
  const list = text
    .split(/[;,]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (list.length === 0)
    throw new ClientError('ILLEGAL_ARGUMENT', 'no name server address is given', {
      remedy: 'set namesrvAddr to host:port;host:port',
    });
  for (const entry of list) parseAddress(entry);
  return [...new Set(list)];
}
