import { InvalidArgumentError } from 'commander';

/** Parses a flag's value as a whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    return value;
  };
}

/** Parses a flag's value as seconds, which may have a fraction. */
export function seconds(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+(\.\d+)?$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`It must be a number of seconds from ${min} to ${max}.`);
    return value;
  };
}
