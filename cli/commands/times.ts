import { InvalidArgumentError } from 'commander';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a flag's value such as `10s` or `1.5h` as milliseconds. */
export function duration(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (number === undefined || unit === undefined)
    throw new InvalidArgumentError('It must be a number with one of the units ms, s, m, h, d: 10s.');
  return Math.round(Number(number) * UNIT_MS[unit]!);
}

/** Parses a flag's value as a time in ISO 8601; one without a zone is local. */
export function instant(text: string): Date {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('It must be a time such as 2030-01-31T08:00:00Z.');
  return time;
}
