import { parseArgs } from 'node:util';

export interface Settings {
  /** Measured time of each turn. */
  readonly seconds: number;
  /** Turns of each side; starts, too. */
  readonly turns: number;
  /** Names of rows; all when empty. */
  readonly only: readonly string[];
  /** Folder for one JSON file per load, and `figures.json`. */
  readonly json: string | undefined;
  /** Takes the closing table. */
  readonly markdown: string | undefined;
}

const text = { type: 'string' } as const;

/** Throws one line that says what is wrong. */
export function settingsFrom(args: string[], rows: readonly string[]): Settings {
  const { values } = parseArgs({
    args,
    options: { seconds: text, turns: text, only: text, json: text, markdown: text },
  });
  const only = values.only?.split(',').map((name) => name.trim()) ?? [];
  const unknown = only.filter((name) => !rows.includes(name));
  if (unknown.length > 0) throw new Error(`there is no row ${unknown.join(', ')}; rows: ${rows.join(', ')}`);
  return {
    seconds: whole('--seconds', values.seconds ?? '6'),
    turns: whole('--turns', values.turns ?? '3'),
    only,
    json: values.json,
    markdown: values.markdown,
  };
}

function whole(flag: string, value: string): number {
  if (!/^[1-9]\d{0,3}$/.test(value)) throw new Error(`${flag} takes a whole number from 1 to 9999, not "${value}"`);
  return Number(value);
}
