import { declarations, type Options } from '../../config/options.js';

/** Every option at its default, derived ones at plain values, and what a test sets. */
export function defaultOptions(changes: Partial<Options> = {}): Options {
  const values = Object.fromEntries([...declarations.values()].map((one) => [one.name, one.default]));
  const derived = { brokerIP1: '127.0.0.1', brokerIP2: '127.0.0.1', brokerName: 'broker-a', role: 'broker' };
  return { ...values, ...derived, ...changes } as unknown as Options;
}
