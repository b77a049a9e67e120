import type { Advice } from './advice.js';
import { machineText, type Machine } from './machine.js';
import { figureRows, short, threadsIn } from './rows.js';
import type { TopologyRun } from './run.js';
import type { TopologiesSettings } from './settings.js';
import type { PhaseSummary, Spread } from './summary.js';
import { barChart, escapeText, pointChart, type BarRow } from './svg.js';
import { byPhase, settingsLines } from './table.js';

export interface Report {
  readonly machine: Machine;
  readonly settings: TopologiesSettings;
  readonly runs: readonly TopologyRun[];
  readonly summaries: readonly PhaseSummary[];
  readonly advice: Advice;
}

const STYLE = `
:root { color-scheme: light dark; --ink: #222; --faint: #888; --ground: #fff; --line: #ddd; --note: #f2f6fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --faint: #888; --ground: #1b1d20; --line: #3a3d42; --note: #24292f; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 1360px; margin: 2em auto; padding: 0 1em; }
h1, h2, h3 { line-height: 1.2; }
h3 { font-size: 1em; margin: 1em 0 0.2em; }
.advice { background: var(--note); padding: 0.8em 1em; border-left: 4px solid #4477aa; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 0 2em; }
.chart svg { max-width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .grid { stroke: var(--line); }
svg .span { stroke: var(--faint); stroke-width: 2; }
svg .run { stroke: var(--ink); stroke-width: 1.5; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1em 0; }
td, th { border-bottom: 1px solid var(--line); padding: 0.15em 0.8em; text-align: right; }
td:first-child, th:first-child { text-align: left; white-space: pre; }
footer { color: var(--faint); }`;

/** The report as one file: no script, nothing that is loaded from elsewhere. Well-formed as XML, too. */
export function html(report: Report): string {
  const { machine, settings, summaries, advice } = report;
  const lines = settingsLines(settings).map((line) => `<li>${escapeText(line)}</li>`);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>kernel bench topologies</title>
<style>${STYLE}
</style>
</head>
<body>
<h1>kernel bench topologies</h1>
<p>${escapeText(machineText(machine))}</p>
<p class="advice">${escapeText(advice.text)}</p>
<ul>
${lines.join('\n')}
</ul>
${byPhase(summaries)
  .map(([name, phase]) => section(name, phase, report))
  .join('\n')}
<footer>Figures are medians of the turns, lines across bars single turns. CPU and memory are those of the broker. Loop delay: how late
a timer of the network thread came. Ring: what lay between the network thread and the writer, seen every 10 ms. Percentiles and
maxima of both are known to within a quarter.</footer>
</body>
</html>
`;
}

function section(name: string, phase: readonly PhaseSummary[], { runs, settings }: Report): string {
  const { latency } = settings.phases.find((one) => one.name === name)!;
  const heads = phase.map(({ topology }) => `<th>${escapeText(topology)}</th>`);
  const rows = figureRows(phase).map(
    (row) =>
      `<tr><td>${escapeText(row.name)}</td>${row.cells.map((cell) => `<td>${escapeText(cell)}</td>`).join('')}</tr>`,
  );
  return `<h2>${escapeText(name)}</h2>
<div class="charts">
${charts(
  phase,
  latency,
  runs.filter((run) => run.phase === name),
).join('\n')}
</div>
<table>
<thead><tr><th>median</th>${heads.join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
}

function charts(phase: readonly PhaseSummary[], latency: string, runs: readonly TopologyRun[]): string[] {
  const chart = (title: string, svg: string): string => `<div class="chart"><h3>${escapeText(title)}</h3>${svg}</div>`;
  const runsOf = (topology: string, value: (run: TopologyRun) => number): number[] =>
    runs.filter((run) => run.topology === topology).map(value);
  const percentiles = phase.map(({ topology, p50, p90, p99, p999 }) => ({
    label: topology,
    points: Object.entries({ p50, p90, p99, 'p99.9': p999 }).map(([name, { median }]) => ({ name, value: median })),
  }));
  const rates = phase.map(({ topology, rate }) => ({
    ...single(topology, 'messages/s', rate.median),
    marks: runsOf(topology, (run) => run.messagesPerSecond),
  }));
  return [
    chart('messages/s', barChart(rates, short)),
    chart(`${latency}, µs`, pointChart(percentiles, short)),
    chart(
      'broker CPU, µs per message',
      barChart(
        byThread(phase, ({ threadCpu }) => threadCpu),
        short,
      ),
    ),
    chart(
      'wake-ups per 1,000 messages',
      barChart(
        byThread(phase, ({ wakeUps }) => wakeUps),
        short,
      ),
    ),
    chart(
      'anonymous memory, MiB',
      bars(phase, ({ anonMebibytes }) => anonMebibytes?.median),
    ),
    chart(
      'loop delay of the network thread, p99 µs',
      bars(phase, ({ loopDelayMicros }) => loopDelayMicros?.p99),
    ),
    chart(
      'units in the ring, p99',
      bars(phase, ({ ringUnits }) => ringUnits?.p99),
    ),
    chart(
      'KiB in the ring, p99',
      bars(phase, ({ ringKibibytes }) => ringKibibytes?.p99),
    ),
  ];
}

function bars(phase: readonly PhaseSummary[], of: (summary: PhaseSummary) => number | undefined): string {
  return barChart(
    phase.map((summary) => single(summary.topology, '', of(summary) ?? 0)),
    short,
  );
}

const single = (label: string, name: string, value: number): BarRow => ({ label, parts: [{ name, value }] });

/** The same colour for a thread in every row. */
function byThread(
  phase: readonly PhaseSummary[],
  of: (summary: PhaseSummary) => Readonly<Record<string, Spread>>,
): BarRow[] {
  const threads = threadsIn(phase, of);
  return phase.map((summary) => ({
    label: summary.topology,
    parts: threads.map((name) => ({ name, value: of(summary)[name]?.median ?? 0 })),
  }));
}
