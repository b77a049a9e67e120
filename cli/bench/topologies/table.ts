import Table from 'cli-table3';
import { threadsOf } from '../../../config/topology.js';
import { machineText, type Machine } from './machine.js';
import { figureRows } from './rows.js';
import type { NamedTopology, TopologiesSettings } from './settings.js';
import type { PhaseSummary } from './summary.js';

/** What is going to be done, so that somebody else can do the same. */
export function settingsText(settings: TopologiesSettings, machine: Machine): string {
  return [...settingsLines(settings), `machine: ${machineText(machine)}`].join('\n');
}

export function settingsLines({ topologies, phases, load, turns, brokerSet }: TopologiesSettings): string[] {
  return [
    ...topologies.map((topology) => `topology ${topology.name}: ${placementText(topology)}`),
    ...phases.map((phase) => `phase ${phase.name}: ${phase.text(load)}`),
    `${load.form} headers, ${load.warmSeconds} s warm-up and ${load.seconds} s measured per phase, ${turns} ${turns === 1 ? 'turn' : 'turns'}${
      brokerSet.length === 0 ? '' : `; brokers with ${brokerSet.join(' ')}`
    }`,
  ];
}

/** The threads beside main, and who shares one. */
function placementText({ placements }: NamedTopology): string {
  const threads = [...threadsOf(placements)].map(([thread, services]) =>
    services.length === 1 && services[0] === thread ? thread : `${thread} (${services.join(', ')})`,
  );
  return threads.length === 0 ? 'everything on the main thread' : `main and ${threads.join(', ')}`;
}

/** One table for each phase, a column for each topology. */
export function tables(summaries: readonly PhaseSummary[]): string {
  return byPhase(summaries)
    .map(([phase, ofPhase]) => {
      const table = new Table({
        head: [phase, ...ofPhase.map(({ topology }) => topology)],
        colAligns: ['left', ...ofPhase.map(() => 'right' as const)],
        // No colours: the output may go into a file.
        style: { head: [], border: [], compact: true },
      });
      for (const { name, cells } of figureRows(ofPhase)) table.push([name, ...cells]);
      return table.toString();
    })
    .join('\n\n');
}

export function byPhase(summaries: readonly PhaseSummary[]): [string, PhaseSummary[]][] {
  const phases = [...new Set(summaries.map(({ phase }) => phase))];
  return phases.map((phase) => [phase, summaries.filter((summary) => summary.phase === phase)]);
}
