/** A row of a chart: bars that stand one behind the other, and marks for single runs. */
export interface BarRow {
  readonly label: string;
  readonly parts: readonly { readonly name: string; readonly value: number }[];
  readonly marks?: readonly number[];
}

/** Points on a logarithmic scale, such as percentiles. */
export interface PointRow {
  readonly label: string;
  readonly points: readonly { readonly name: string; readonly value: number }[];
}

const WIDTH = 640;
const LABEL = 110;
/** Room behind the longest bar for its figure. */
const FIGURE = 80;
const PLOT = WIDTH - LABEL - FIGURE;
const ROW = 26;
const BAR = 16;
const TOP = 8;
const AXIS = 22;

/** Told apart by people who see colours differently, on light and dark ground. */
const COLOURS = ['#4477aa', '#ee7733', '#228833', '#aa3377', '#66ccee', '#ccbb44', '#999999'];

export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Horizontal bars from 0, with a legend when they have parts. `figure` writes a value. */
export function barChart(rows: readonly BarRow[], figure: (value: number) => string): string {
  const total = ({ parts }: BarRow): number => parts.reduce((sum, { value }) => sum + value, 0);
  const longest = Math.max(Number.MIN_VALUE, ...rows.map(total), ...rows.flatMap(({ marks }) => marks ?? []));
  const scale = (value: number): number => (value / longest) * PLOT;
  const names = [...new Set(rows.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const drawn = rows.map((row, index) => {
    const y = TOP + index * ROW;
    let x = LABEL;
    const bars = row.parts.map(({ name, value }) => {
      const bar = rect(x, y, scale(value), COLOURS[names.indexOf(name) % COLOURS.length]!, `${name} ${figure(value)}`);
      x += scale(value);
      return bar;
    });
    const marks = (row.marks ?? []).map((value) => mark(LABEL + scale(value), y, figure(value)));
    const end = Math.max(x, ...(row.marks ?? []).map((value) => LABEL + scale(value)));
    return [label(row.label, y), ...bars, ...marks, text(end + 6, y + 13, figure(total(row)))].join('');
  });
  const height = TOP + rows.length * ROW;
  return names.length < 2 ? svg(height, drawn) : svg(height + AXIS, [...drawn, legend(names, height + 14)]);
}

/** Points between powers of ten. */
export function pointChart(rows: readonly PointRow[], figure: (value: number) => string): string {
  const values = rows.flatMap(({ points }) => points.map(({ value }) => Math.max(1, value)));
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))));
  const scale = (value: number): number => LABEL + ((Math.log10(Math.max(1, value)) - first) / (last - first)) * PLOT;
  const names = [...new Set(rows.flatMap(({ points }) => points.map(({ name }) => name)))];
  const height = TOP + rows.length * ROW;
  const grid = Array.from({ length: last - first + 1 }, (_, index) => {
    const x = scale(10 ** (first + index));
    return `<line class="grid" x1="${at(x)}" x2="${at(x)}" y1="${TOP}" y2="${height}"/>${text(x, height + 13, figure(10 ** (first + index)), 'middle')}`;
  });
  const drawn = rows.map((row, index) => {
    const y = TOP + index * ROW + BAR / 2 + 2;
    const xs = row.points.map(({ value }) => scale(value));
    const line = `<line class="span" x1="${at(Math.min(...xs))}" x2="${at(Math.max(...xs))}" y1="${y}" y2="${y}"/>`;
    const points = row.points.map(({ name, value }) => {
      const colour = COLOURS[names.indexOf(name) % COLOURS.length]!;
      return `<circle cx="${at(scale(value))}" cy="${y}" r="5" fill="${colour}">${title(`${name} ${figure(value)}`)}</circle>`;
    });
    return [label(row.label, TOP + index * ROW), line, ...points].join('');
  });
  return svg(height + 2 * AXIS, [...grid, ...drawn, legend(names, height + AXIS + 14)]);
}

function svg(height: number, parts: readonly string[]): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">${parts.join('')}</svg>`;
}

function legend(names: readonly string[], y: number): string {
  let x = LABEL;
  return names
    .map((name, index) => {
      const entry = `<rect x="${x}" y="${y - 9}" width="10" height="10" fill="${COLOURS[index % COLOURS.length]!}"/>${text(x + 14, y, name)}`;
      x += 30 + name.length * 7;
      return entry;
    })
    .join('');
}

const at = (value: number): string => value.toFixed(1);

const title = (words: string): string => `<title>${escapeText(words)}</title>`;

function rect(x: number, y: number, width: number, colour: string, words: string): string {
  return `<rect x="${at(x)}" y="${y + 2}" width="${at(width)}" height="${BAR}" fill="${colour}">${title(words)}</rect>`;
}

/** One run: a line across the bar. */
function mark(x: number, y: number, words: string): string {
  return `<line class="run" x1="${at(x)}" x2="${at(x)}" y1="${y}" y2="${y + BAR + 4}">${title(words)}</line>`;
}

function label(words: string, y: number): string {
  return text(LABEL - 8, y + 14, words.length > 16 ? `${words.slice(0, 15)}…` : words, 'end');
}

function text(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end' = 'start'): string {
  return `<text x="${at(x)}" y="${y}" text-anchor="${anchor}">${escapeText(words)}</text>`;
}
