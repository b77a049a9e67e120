import { KernelError, messageOf } from '../kernel/base/errors.js';

/** Where commands write: results to standard output, everything else to standard error. */
export interface Printer {
  line(text: string): void;
  json(value: unknown): void;
  /** One line for what went wrong, with what to do about it. */
  error(error: unknown): void;
}

export const printer: Printer = {
  line: (text) => void process.stdout.write(`${text}\n`),
  json: (value) => void process.stdout.write(`${JSON.stringify(value)}\n`),
  error: (error) => void process.stderr.write(`${errorLine(error)}\n`),
};

export function errorLine(error: unknown): string {
  return error instanceof KernelError ? error.line() : messageOf(error);
}
