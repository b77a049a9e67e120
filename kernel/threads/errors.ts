import { KernelError, messageOf, type ExitCode } from '../base/errors.js';

/** An error of ours around a foreign one: remedy and exit code of the inner one stay. */
export function wrapped(code: string, message: string, cause: unknown): KernelError {
  const inner = cause instanceof KernelError ? cause : undefined;
  return new KernelError(code, `${message}: ${messageOf(cause)}`, {
    cause,
    remedy: inner?.remedy,
    ...(inner === undefined ? {} : { exitCode: inner.exitCode }),
  });
}

/** How often a chain of causes is followed between threads. */
const CAUSES_MAX = 4;

/** An error on its way between threads. Structured cloning would keep neither class nor code. */
export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | undefined;
  readonly kernel: { readonly remedy: string | undefined; readonly exitCode: ExitCode } | undefined;
  readonly cause: WireError | undefined;
}

export function toWire(error: unknown, depth = 0): WireError {
  if (!(error instanceof Error))
    return {
      name: 'Error',
      message: String(error),
      stack: undefined,
      code: undefined,
      kernel: undefined,
      cause: undefined,
    };
  const { code } = error as NodeJS.ErrnoException;
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    code: typeof code === 'string' ? code : undefined,
    kernel: error instanceof KernelError ? { remedy: error.remedy, exitCode: error.exitCode } : undefined,
    cause: error.cause === undefined || depth >= CAUSES_MAX ? undefined : toWire(error.cause, depth + 1),
  };
}

export function fromWire(wire: WireError): Error {
  const cause = wire.cause === undefined ? undefined : fromWire(wire.cause);
  const error =
    wire.kernel === undefined || wire.code === undefined
      ? Object.assign(new Error(wire.message, cause === undefined ? undefined : { cause }), {
          name: wire.name,
          ...(wire.code === undefined ? {} : { code: wire.code }),
        })
      : new KernelError(wire.code, wire.message, { cause, ...wire.kernel });
  if (wire.stack !== undefined) error.stack = wire.stack;
  return error;
}
