import { KernelError, ExitCode } from '../kernel/base/errors.js';
import type { Declaration, OptionValue } from './declare.js';
import { hint } from './nearest.js';

/** The value that `raw` stands for. Throws KernelError (exit code 2) naming the option, the limit and `where` it was set. */
export function parseValue(declaration: Declaration, raw: OptionValue, where: string): OptionValue {
  const value = typeof raw === 'string' ? parseText(declaration, raw, where) : parseTyped(declaration, raw, where);
  const refusal = declaration.refused?.find((refused) => refused.value === value);
  if (refusal !== undefined) throw invalid(declaration, where, `${String(value)} is refused: ${refusal.why}`);
  return value;
}

function parseText(declaration: Declaration, raw: string, where: string): OptionValue {
  const text = raw.trim();
  switch (declaration.kind) {
    case 'integer':
      if (!/^[+-]?\d+$/.test(text)) throw invalid(declaration, where, `"${text}" is not a whole number`);
      return limited(declaration, Number(text), where);
    case 'boolean':
      if (!/^(true|false)$/i.test(text)) throw invalid(declaration, where, `"${text}" is neither true nor false`);
      return text.toLowerCase() === 'true';
    case 'choice': {
      const choices = declaration.choices ?? [];
      if (!choices.includes(text))
        throw invalid(declaration, where, `"${text}" is none of ${choices.join(', ')}${hint(text, choices)}`);
      return text;
    }
    case 'list':
      return text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
    case 'string':
      return printable(declaration, text, where);
  }
}

/** Values that came from code (embedded use) instead of a text. */
function parseTyped(declaration: Declaration, raw: Exclude<OptionValue, string>, where: string): OptionValue {
  const { kind } = declaration;
  if (kind === 'boolean' && typeof raw === 'boolean') return raw;
  if (kind === 'list' && Array.isArray(raw) && raw.every((item) => typeof item === 'string')) return [...raw];
  if (kind === 'integer' && typeof raw === 'number' && Number.isInteger(raw)) return limited(declaration, raw, where);
  throw invalid(declaration, where, `${String(raw)} is not of kind ${kind}`);
}

function limited(declaration: Declaration, value: number, where: string): number {
  const { min, max } = declaration;
  const unit = declaration.unit === undefined || declaration.unit === '' ? '' : ` ${declaration.unit}`;
  if (min !== undefined && value < min) throw invalid(declaration, where, `${value} is below ${min}${unit}`);
  if (max !== undefined && value > max) throw invalid(declaration, where, `${value} is above ${max}${unit}`);
  return value;
}

function printable(declaration: Declaration, text: string, where: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(text)) throw invalid(declaration, where, 'contains a control character');
  return text;
}

export function invalid(declaration: Pick<Declaration, 'name'>, where: string, problem: string): KernelError {
  return new KernelError('OPTION_INVALID', `${declaration.name} (${where}): ${problem}`, {
    exitCode: ExitCode.usage,
    remedy: `see kernel config print`,
  });
}

/** How a value is written in a properties file. */
export function formatValue(value: OptionValue): string {
  return Array.isArray(value) ? value.join(',') : String(value);
}
