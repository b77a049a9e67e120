const MAPPED = '::ffff:';

/** The host as 4.9.7 prints it: an IPv4 peer of a dual-stack socket is an IPv4 peer (B33); the zone of a link-local one is dropped. */
export function plainHost(address: string): string {
  const zone = address.indexOf('%');
  const host = zone < 0 ? address : address.slice(0, zone);
  return host.startsWith(MAPPED) && host.includes('.') ? host.slice(MAPPED.length) : host;
}
