import { writeFile } from 'node:fs/promises';
import { systemClock } from '../../kernel/base/clock.js';
import type { Printer } from '../printer.js';
import type { HeaderForm } from './frames.js';
import type { BrokerTarget, Load } from './load.js';
import { measure, type LiveLine, type LoadResult } from './measure.js';
import { targetsOf, type Side } from './prepare.js';
import { PullLoad } from './pull-load.js';
import { liveText, ratioLine, resultLine, settingsLine } from './report.js';
import { SendLoad } from './send-load.js';

export type LoadKind = 'produce' | 'batch' | 'consume';

export interface BenchSettings {
  readonly kind: LoadKind;
  readonly side: Side & { readonly pid: number | undefined };
  /** A second broker that gets the same load in turn. */
  readonly peer: (Side & { readonly pid: number | undefined }) | undefined;
  readonly topic: string;
  readonly bodyBytes: number;
  /** Requests in flight on each connection. */
  readonly window: number;
  readonly connections: number;
  /** Measured seconds of each run; 0 with `consume`: once through the backlog. */
  readonly seconds: number;
  readonly warmSeconds: number;
  readonly form: HeaderForm;
  readonly queues: number | undefined;
  /** Messages per batch, or per pull. */
  readonly perRequest: number;
  /** Whether each message has a property KEYS, too. */
  readonly keys: boolean;
  /** Runs on each side. */
  readonly turns: number;
  readonly jsonFile: string | undefined;
}

export interface BenchRun extends LoadResult {
  readonly side: 'A' | 'B';
  readonly address: string;
}

const CONSUMER_GROUP = 'kernel-bench';

/** Runs the load on one side, or on two in turns (A B A B), and prints what came out. */
export async function bench(settings: BenchSettings, printer: Printer, terminal: NodeJS.WriteStream): Promise<void> {
  printer.line(settingsLine(settings));
  const live = liveLine(terminal);
  const runs: BenchRun[] = [];
  const sides = [
    { ...settings.side, name: 'A' as const },
    ...(settings.peer === undefined ? [] : [{ ...settings.peer, name: 'B' as const }]),
  ];
  const turns = settings.peer === undefined ? 1 : settings.turns;
  for (let turn = 0; turn < turns; turn++) {
    for (const side of sides) {
      const result = await runOnce(settings, side, (line) => live(`${side.name} ${liveText(line)}`));
      live('');
      const run: BenchRun = { side: side.name, address: side.address, ...result };
      runs.push(run);
      printer.line(resultLine(run));
    }
  }
  if (settings.peer !== undefined) printer.line(ratioLine(runs));
  if (settings.jsonFile !== undefined)
    await writeFile(settings.jsonFile, `${JSON.stringify({ settings, runs }, null, 2)}\n`);
}

async function runOnce(
  settings: BenchSettings,
  side: Side & { readonly pid: number | undefined },
  live: LiveLine,
): Promise<LoadResult> {
  const use = settings.kind === 'consume' ? 'read' : 'write';
  const targets = await targetsOf(side, {
    topic: settings.topic,
    queues: use === 'write' ? settings.queues : undefined,
    use,
  });
  const load = await openLoad(settings, targets);
  const once = settings.kind === 'consume' && settings.seconds === 0;
  const warmSeconds = once ? 0 : settings.warmSeconds;
  return measure(load, { warmSeconds, seconds: settings.seconds, pid: side.pid }, live);
}

function openLoad(settings: BenchSettings, targets: readonly BrokerTarget[]): Promise<Load> {
  const { topic, form, connections, window, perRequest, bodyBytes, keys } = settings;
  const common = { targets, topic, form, connections, window };
  if (settings.kind !== 'consume') return SendLoad.open({ ...common, bodyBytes, perRequest, keys }, systemClock);
  const again = settings.seconds > 0;
  return PullLoad.open({ ...common, group: CONSUMER_GROUP, perPull: perRequest, again }, systemClock);
}

/** Writes over itself; an empty text clears it. Nothing when nobody looks. */
function liveLine(terminal: NodeJS.WriteStream): (text: string) => void {
  if (!terminal.isTTY) return () => undefined;
  return (text) => void terminal.write(`\r\u001b[K${text}`);
}
