import { ExitCode, KernelError } from '../kernel/base/errors.js';
import type { Machine } from './machine.js';

/** What the ports are derived from; 0 means "not set" but for the two listen ports, where it means "take a free one". */
export interface PortWishes {
  readonly role: 'all' | 'broker' | 'namesrv';
  readonly bindAddress: string;
  readonly listenPort: number;
  readonly fastListenPort: number;
  readonly adminPort: number;
  readonly namesrvListenPort: number;
}

export interface Ports {
  readonly listenPort: number;
  readonly fastListenPort: number;
  readonly haListenPort: number;
  readonly adminPort: number;
  readonly namesrvListenPort: number;
}

/**
 * Ports of our own choice lie below the range from which systems take the ports of outgoing connections (32768 on Linux), so
 * that a connection opened between the probe and the start cannot take one.
 */
const CHOICE_FROM = 20_000;
const CHOICE_UNTIL = 32_000;
const ATTEMPTS_MAX = 200;

/** 4.9: BrokerController opens listenPort - 2 as the fast port, BrokerStartup sets haListenPort to listenPort + 1. */
export function derivedPorts(wishes: PortWishes, listenPort: number): Omit<Ports, 'namesrvListenPort'> {
  return {
    listenPort,
    fastListenPort: wishes.fastListenPort === 0 ? listenPort - 2 : wishes.fastListenPort,
    haListenPort: listenPort + 1,
    adminPort: wishes.adminPort === 0 ? listenPort + 10 : wishes.adminPort,
  };
}

/** All ports as numbers. Throws KernelError (exit code 2) when two are the same or one does not exist. */
export async function choosePorts(wishes: PortWishes, machine: Machine): Promise<Ports> {
  const broker = await chooseBrokerPorts(wishes, machine);
  const taken = wishes.role === 'namesrv' ? [] : brokerPortsOf(broker);
  const namesrvListenPort =
    wishes.namesrvListenPort === 0 && wishes.role !== 'broker'
      ? await chooseFree(machine, wishes.bindAddress, (port) => (taken.includes(port) ? [] : [port]))
      : wishes.namesrvListenPort;
  const ports = { ...broker, namesrvListenPort };
  checkPorts(wishes, ports);
  return ports;
}

async function chooseBrokerPorts(wishes: PortWishes, machine: Machine): Promise<Omit<Ports, 'namesrvListenPort'>> {
  if (wishes.listenPort !== 0 || wishes.role === 'namesrv') return derivedPorts(wishes, wishes.listenPort);
  const chosen = await chooseFree(machine, wishes.bindAddress, (port) => {
    const ports = brokerPortsOf(derivedPorts(wishes, port));
    return ports.includes(wishes.namesrvListenPort) ? [] : ports;
  });
  return derivedPorts(wishes, chosen);
}

function brokerPortsOf(ports: Omit<Ports, 'namesrvListenPort'>): number[] {
  return [ports.listenPort, ports.fastListenPort, ports.haListenPort, ports.adminPort];
}

/** A port P for which all of `needed(P)` are free; an empty list means that P will not do. */
async function chooseFree(machine: Machine, bindAddress: string, needed: (port: number) => number[]): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const port = CHOICE_FROM + Math.floor(machine.random() * (CHOICE_UNTIL - CHOICE_FROM));
    const ports = needed(port);
    const free = await Promise.all(ports.map((needed) => machine.isPortFree(needed, bindAddress)));
    if (ports.length > 0 && free.every(Boolean)) return port;
  }
  throw new KernelError('NO_FREE_PORT', `no free port found on ${bindAddress || 'all addresses'}`, {
    remedy: `tried ${ATTEMPTS_MAX} between ${CHOICE_FROM} and ${CHOICE_UNTIL}: name one, or check bindAddress`,
  });
}

function checkPorts(wishes: PortWishes, ports: Ports): void {
  const named: [string, number][] = [];
  if (wishes.role !== 'namesrv')
    named.push(
      ['listenPort', ports.listenPort],
      ['fastListenPort', ports.fastListenPort],
      ['haListenPort', ports.haListenPort],
      ['adminPort', ports.adminPort],
    );
  if (wishes.role !== 'broker') named.push(['namesrvListenPort', ports.namesrvListenPort]);
  named.forEach(([name, port], index) => {
    if (port < 1 || port > 65_535) throw usage(`${name} would be ${port}, which is no port`);
    const same = named.slice(0, index).find(([, other]) => other === port);
    if (same !== undefined) throw usage(`${same[0]} and ${name} are both ${port}`);
  });
}

function usage(problem: string): KernelError {
  return new KernelError('PORTS_INVALID', problem, {
    exitCode: ExitCode.usage,
    remedy: 'listenPort P brings P - 2 (fast), P + 1 (replication) and P + 10 (admin)',
  });
}
