import type { Machine } from '../../config/machine.js';

/** A machine without surprises; every part can be replaced. */
export function testMachine(parts: Partial<Machine> = {}): Machine {
  return {
    hostName: () => 'host-a',
    homeDir: () => '/home/someone',
    totalMemoryBytes: () => 8_000_000_000,
    addresses: () => [
      { address: '127.0.0.1', family: 'IPv4', internal: true },
      { address: '10.1.2.3', family: 'IPv4', internal: false },
    ],
    isPortFree: async () => true,
    random: () => 0.5,
    ...parts,
  };
}
