import { isIPv6 } from 'node:net';
import { KernelError } from '../../kernel/base/errors.js';

export interface NamesrvAddress {
  readonly host: string;
  /** 0: the own name server's, which is known when it listens. */
  readonly port: number;
}

/** More than a handful is a mistake in the configuration. */
const NAMESRVS_MAX = 32;

/**
 * `host:port;host:port` as `namesrvAddr` holds it; IPv6 in brackets or bare. Throws naming the part that is wrong.
 * `own`: a name server runs in this process, and port 0 means it.
 */
export function parseNamesrvAddr(text: string, own = false): NamesrvAddress[] {
  const parts = text
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (parts.length > NAMESRVS_MAX) throw invalid(`names ${parts.length} servers, more than ${NAMESRVS_MAX}`);
  return parts.map((part) => parseOne(part, own));
}

function parseOne(part: string, own: boolean): NamesrvAddress {
  // 4.9: RemotingUtil#string2SocketAddress cuts at the last colon.
  const colon = part.lastIndexOf(':');
  const host = part.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  const digits = part.slice(colon + 1);
  if (colon < 1 || host === '' || (host.includes(':') && !isIPv6(host))) throw invalid(`has no host in '${part}'`);
  const port = Number(digits);
  if (!/^\d{1,5}$/.test(digits) || port > 65535 || (port === 0 && !own)) throw invalid(`has no port in '${part}'`);
  return { host, port };
}

function invalid(problem: string): KernelError {
  return new KernelError('BAD_NAMESRV_ADDR', `namesrvAddr ${problem}`, {
    remedy: 'write host:port, several separated by ;',
    exitCode: 2,
  });
}

export function hostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
