/** What the process exits with; `--help` lists them. */
export const ExitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  /** The commitlog or flush worker ended: nothing may be acknowledged any more. */
  workerDied: 70,
  /** A second signal forced the end before the drain was over. */
  forced: 71,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Every error a person may read: a stable code, what happened and where, and what to do about it. */
export class KernelError extends Error {
  override readonly name: string = 'KernelError';
  readonly code: string;
  readonly remedy: string | undefined;
  readonly exitCode: ExitCode;

  constructor(
    code: string,
    message: string,
    options: { cause?: unknown; remedy?: string | undefined; exitCode?: ExitCode } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.remedy = options.remedy;
    this.exitCode = options.exitCode ?? ExitCode.failed;
  }

  /** One line for a terminal: code, message, remedy. */
  line(): string {
    return `${this.code}: ${this.message}${this.remedy === undefined ? '' : ` (${this.remedy})`}`;
  }
}

/** The message of anything that can be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The system error code (ENOSPC, EADDRINUSE, …) of anything that can be thrown, or undefined. */
export function systemCodeOf(error: unknown): string | undefined {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
