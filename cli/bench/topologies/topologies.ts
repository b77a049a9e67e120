import { writeFile } from 'node:fs/promises';
import { systemClock } from '../../../kernel/base/clock.js';
import type { Printer } from '../../printer.js';
import type { ProgressStream } from '../../progress-bar.js';
import { whileNotInterrupted } from './interruption.js';
import { advise } from './advice.js';
import { html, type Report } from './html.js';
import { machineOf } from './machine.js';
import { PlanProgress } from './plan-progress.js';
import { runTopology, type TopologyRun } from './run.js';
import type { TopologiesSettings } from './settings.js';
import { summaries } from './summary.js';
import { settingsText, tables } from './table.js';

/** Runs the script on every topology in turns and prints what came out, with the topology that suits this machine. */
export async function benchTopologies(
  settings: TopologiesSettings,
  printer: Printer,
  stream: ProgressStream,
): Promise<void> {
  const machine = machineOf();
  printer.line(settingsText(settings, machine));
  const runs = await whileNotInterrupted((signal) => allRuns(settings, stream, signal));
  const summed = summaries(runs);
  const advice = advise(summed, settings.turns);
  printer.line(tables(summed));
  printer.line(advice.text);
  const report = { machine, settings, runs, summaries: summed, advice };
  if (settings.jsonFile !== undefined) await writeFile(settings.jsonFile, jsonOf(report));
  if (settings.htmlFile !== undefined) await writeFile(settings.htmlFile, html(report));
}

/** As it is, with what each phase does instead of its functions. */
function jsonOf(report: Report): string {
  const { settings } = report;
  const phases = settings.phases.map(({ name, text }) => ({ name, text: text(settings.load) }));
  return `${JSON.stringify({ ...report, settings: { ...settings, phases } }, null, 2)}\n`;
}

/** A B C A B C: what changes on the machine meanwhile meets all of them. */
async function allRuns(
  settings: TopologiesSettings,
  stream: ProgressStream,
  signal: AbortSignal,
): Promise<TopologyRun[]> {
  const { topologies, turns, phases, load } = settings;
  const ofScript = phases.reduce(
    (sum, phase) => sum + load.warmSeconds + load.seconds + (phase.leadSeconds?.(load) ?? 0),
    0,
  );
  const seconds = topologies.length * turns * ofScript;
  const progress = new PlanProgress(seconds, systemClock, stream);
  const runs: TopologyRun[] = [];
  try {
    for (let turn = 1; turn <= turns; turn++)
      for (const topology of topologies) runs.push(...(await runTopology(settings, topology, turn, progress, signal)));
  } finally {
    progress.end();
  }
  return runs;
}
