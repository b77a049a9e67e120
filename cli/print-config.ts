import type { Declaration } from '../config/declare.js';
import { type Loaded, loadOptions } from '../config/load.js';
import { optionGroups } from '../config/options.js';
import { formatValue } from '../config/parse.js';
import { profileOf } from '../config/profiles/profile.js';
import { loadTopology } from '../config/topology.js';
import { assignmentsOf } from './flags.js';
import { printer } from './printer.js';

export function load(flags: Parameters<typeof assignmentsOf>[0], file?: string): Promise<Loaded> {
  return loadOptions({ assignments: assignmentsOf(flags), env: process.env, ...(file === undefined ? {} : { file }) });
}

/** Every option; as text it is a properties file with comments. */
export function printConfig(loaded: Loaded, asJson: boolean): void {
  for (const { message } of loaded.notices) printer.error(new Error(message));
  if (asJson) {
    printer.json(optionGroups.flatMap((group) => group.list.map((declaration) => describe(declaration, loaded))));
    return;
  }
  for (const { title, list } of optionGroups) {
    printer.line(`\n# ${title}`);
    for (const declaration of list) printer.line(textOf(declaration, loaded));
  }
}

/** Also what only a start would find: topology and plugins. Throws KernelError. */
export async function checkConfig({ options, notices, origins }: Loaded): Promise<void> {
  loadTopology(options);
  await profileOf(options);
  for (const { message } of notices) printer.line(message);
  printer.line(`${origins.size} options set, usable for role ${options.role}`);
}

function describe(declaration: Declaration, { options, origins }: Loaded): object {
  const { name, default: fallback, unit, min, max, choices, reason, derived, accepted } = declaration;
  const setBy = origins.get(name) ?? (derived === undefined ? 'default' : 'derived');
  return {
    name,
    value: valueOf(name, options),
    default: fallback,
    unit,
    min,
    max,
    choices,
    reason,
    derived,
    accepted,
    setBy,
  };
}

function textOf(declaration: Declaration, { options, origins }: Loaded): string {
  const { name, unit, reason, derived, accepted, choices } = declaration;
  const about = [
    accepted === undefined ? reason : `no effect: ${accepted}`,
    unit === undefined || unit === '' ? '' : `[${unit}]`,
    choices === undefined ? '' : `[${choices.join(', ')}]`,
    origins.has(name) ? `set by ${origins.get(name)}` : derived === undefined ? '' : `when not set: ${derived}`,
  ];
  return `# ${about.filter((part) => part !== '').join(' | ')}\n${name}=${escaped(formatValue(valueOf(name, options)))}`;
}

function valueOf(name: string, options: Loaded['options']): Declaration['default'] {
  return options[name as keyof typeof options];
}

/** A value as a properties file needs it. */
function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\');
}
