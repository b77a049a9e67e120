import type { Logger } from '../../kernel/base/logger.js';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A logger that keeps its lines; children write into the same list. */
export function recordingLogger(lines: LogLine[] = [], base: object = {}): Logger & { readonly lines: LogLine[] } {
  const at =
    (level: LogLine['level']) =>
    (fields: object, message: string): void =>
      void lines.push({ level, fields: { ...base, ...fields }, message });
  return {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => recordingLogger(lines, { ...base, ...fields }),
  };
}
