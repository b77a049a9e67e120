import Table from 'cli-table3';
import { goalText, median, ratioOf, verdict, type Figure, type Unit } from './figures.js';

const head = ['load', 'this broker', 'RocketMQ 4.9.7', 'A / B', 'goal', 'reached'] as const;

/** The closing table for a terminal. */
export function plainTable(figures: readonly Figure[]): string {
  const table = new Table({
    head: [...head],
    style: { head: [], border: [], compact: true },
    colAligns: ['left', 'right', 'right', 'right', 'left', 'left'],
  });
  for (const figure of figures) table.push(cells(figure));
  return [table.toString(), ...notes(figures)].join('\n');
}

/** The same as a table of a Markdown page. */
export function markdownTable(figures: readonly Figure[]): string {
  const row = (columns: readonly string[]): string => `| ${columns.join(' | ')} |`;
  const lines = [row(head), '|---|---|---|---|---|---|', ...figures.map((figure) => row(cells(figure)))];
  const below = notes(figures);
  return [...lines, ...(below.length === 0 ? [] : ['', ...below])].join('\n');
}

/** The turns of one figure and what comes of them, for the report while rows run. */
export function figureLine(figure: Figure): string {
  const side = (values: readonly number[]): string =>
    values.length === 0 ? '–' : values.map((value) => valueText(value, figure.unit)).join(', ');
  const ratio = ratioOf(figure);
  return `${figure.load}: A ${side(figure.a)}; B ${side(figure.b)} ${figure.unit}${ratio === undefined ? '' : `; medians A / B ${ratio.toFixed(2)}`}`;
}

function cells(figure: Figure): string[] {
  const { load, unit, a, b, goal } = figure;
  const side = (values: readonly number[]): string => {
    const middle = median(values);
    return middle === undefined ? '–' : `${valueText(middle, unit)} ${unit}`;
  };
  const ratio = ratioOf(figure);
  return [
    figure.note === undefined ? load : `${load} (!)`,
    side(a),
    side(b),
    ratio?.toFixed(2) ?? '–',
    goalText(goal, unit),
    verdict(figure),
  ];
}

/** The figures of one load share their notes: each is said once. */
function notes(figures: readonly Figure[]): string[] {
  const said = new Map<string, string>();
  for (const { load, note } of figures) if (note !== undefined && !said.has(note)) said.set(note, load);
  return [...said].map(([note, load]) => `(!) ${load}: ${note}`);
}

/** Rates to three digits, small times with their fractions. */
function valueText(value: number, unit: Unit): string {
  if (unit === 'msg/s' && value >= 1000) return (Math.round(value / 100) * 100).toLocaleString('en-US');
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value >= 10 ? 1 : 2);
}
