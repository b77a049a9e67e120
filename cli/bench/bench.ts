import { writeFile } from 'node:fs/promises';
import type { Printer } from '../printer.js';
import { mediansOf, ratiosOf } from './compare.js';
import type { BrokerTarget } from './load.js';
import { measure, type LiveLine, type LoadResult } from './measure.js';
import { openLoad } from './open-load.js';
import { targetsOf, type Side } from './prepare.js';
import { liveText, medianLine, ratioLine, resultLines, settingsLine } from './report.js';
import { topicNames, type BenchSettings } from './settings.js';

export interface BenchRun extends LoadResult {
  readonly side: 'A' | 'B';
  readonly address: string;
}

interface NamedSide extends Side {
  readonly name: 'A' | 'B';
  readonly pid: number | undefined;
  readonly targets: readonly BrokerTarget[];
}

/** Runs the load on one side, or on two in turns (A B A B), and prints what came out. */
export async function bench(settings: BenchSettings, printer: Printer, terminal: NodeJS.WriteStream): Promise<void> {
  printer.line(settingsLine(settings));
  const live = liveLine(terminal);
  const sides = await prepared(settings, live);
  const runs: BenchRun[] = [];
  for (let turn = 0; turn < settings.turns; turn++)
    for (const side of sides) {
      const result = await runOnce(settings, side, (line) => live(`${side.name} ${liveText(line)}`));
      live('');
      const run: BenchRun = { side: side.name, address: side.address, ...result };
      runs.push(run);
      for (const line of resultLines(run)) printer.line(line);
    }
  const medians = mediansOf(runs);
  if (settings.turns > 1) for (const { name } of sides) printer.line(medianLine(name, settings.turns, medians[name]!));
  const ratios = medians.B === undefined ? undefined : ratiosOf(medians.A!, medians.B);
  if (ratios !== undefined) printer.line(ratioLine(ratios));
  if (settings.jsonFile !== undefined)
    await writeFile(settings.jsonFile, `${JSON.stringify({ settings, runs, medians, ratios }, null, 2)}\n`);
}

/** The sides with their topics. */
async function prepared(settings: BenchSettings, live: (text: string) => void): Promise<NamedSide[]> {
  const use = settings.tail ? 'both' : settings.kind === 'consume' ? 'read' : 'write';
  const wish = { topics: topicNames(settings), queues: settings.queues, use } as const;
  const sides: NamedSide[] = [];
  for (const [name, side] of [['A', settings.side] as const, ['B', settings.peer] as const]) {
    if (side === undefined) continue;
    const progress = (done: number, total: number): void => live(`${name} topic ${done} of ${total}`);
    sides.push({ ...side, name, targets: await targetsOf(side, { ...wish, progress }) });
    live('');
  }
  return sides;
}

async function runOnce(settings: BenchSettings, side: NamedSide, live: LiveLine): Promise<LoadResult> {
  const { load, close } = await openLoad(settings, side, side.targets);
  try {
    const { warmSeconds, seconds } = settings;
    return await measure(load, { warmSeconds, seconds, pid: side.pid }, live);
  } finally {
    await close();
  }
}

/** Writes over itself; an empty text clears it. Nothing when nobody looks. */
function liveLine(terminal: NodeJS.WriteStream): (text: string) => void {
  if (!terminal.isTTY) return () => undefined;
  return (text) => void terminal.write(`\r\u001b[K${text}`);
}
