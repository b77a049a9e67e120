import { KernelError } from './base/errors.js';
import { tokenName } from './container.js';
import type { PluginManifest } from './plugin.js';

/**
 * Plugins in the order in which they start: the order given, with every plugin's needs moved before it.
 * Throws KernelError PLUGIN_INVALID, PLUGIN_DUPLICATE, PLUGIN_MISSING or PLUGIN_CIRCULAR, each naming the plugins.
 */
export function orderPlugins(manifests: readonly PluginManifest[]): PluginManifest[] {
  const byName = new Map<string, PluginManifest>();
  for (const manifest of manifests) {
    checkShape(manifest);
    if (byName.has(manifest.name))
      throw new KernelError('PLUGIN_DUPLICATE', `two plugins are called '${manifest.name}'`, {
        remedy: 'remove one of them from the list of plugins, or rename it',
      });
    byName.set(manifest.name, manifest);
  }
  const ordered = new Set<PluginManifest>();
  for (const manifest of manifests) visit(manifest, [], byName, ordered);
  return [...ordered];
}

/** Depth first; `path` holds the plugins that wait for this one. */
function visit(
  manifest: PluginManifest,
  path: readonly string[],
  byName: ReadonlyMap<string, PluginManifest>,
  ordered: Set<PluginManifest>,
): void {
  if (ordered.has(manifest)) return;
  const start = path.indexOf(manifest.name);
  if (start >= 0) {
    const cycle = [...path.slice(start), manifest.name].join(' -> ');
    throw new KernelError('PLUGIN_CIRCULAR', `plugins need each other in a circle: ${cycle}`, {
      remedy: 'move what both sides need into a plugin of its own',
    });
  }
  for (const need of manifest.needs) {
    const needed = byName.get(need);
    if (needed === undefined)
      throw new KernelError('PLUGIN_MISSING', `plugin '${manifest.name}' needs '${need}', which is not in the list`, {
        remedy: `add '${need}' to the plugins, or remove '${manifest.name}'`,
      });
    visit(needed, [...path, manifest.name], byName, ordered);
  }
  ordered.add(manifest);
}

/** Plugins may come from plain JavaScript: what the types promise is looked at once. */
function checkShape(manifest: PluginManifest): void {
  const invalid = (problem: string): KernelError =>
    new KernelError('PLUGIN_INVALID', `plugin ${nameOf(manifest)}: ${problem}`, {
      remedy: 'export a manifest { name, needs, provides, setup, main? }',
    });
  if (typeof manifest !== 'object' || manifest === null) throw invalid('the manifest is not an object');
  if (typeof manifest.name !== 'string' || manifest.name === '')
    throw invalid('name must be a string that is not empty');
  if (!Array.isArray(manifest.needs) || manifest.needs.some((need) => typeof need !== 'string'))
    throw invalid('needs must be a list of plugin names');
  if (!Array.isArray(manifest.provides)) throw invalid('provides must be a list of tokens');
  if (typeof manifest.setup !== 'function') throw invalid('setup must be a function');
  if (manifest.main !== undefined && typeof manifest.main !== 'function') throw invalid('main must be a class');
}

function nameOf(manifest: PluginManifest | null | undefined): string {
  return typeof manifest?.name === 'string' ? `'${manifest.name}'` : 'without a name';
}

/** What one plugin cost at boot, milliseconds. */
export interface PluginTiming {
  readonly manifest: PluginManifest;
  setupMs: number;
  startMs: number;
  openMs: number;
}

/** The boot as text, one line per plugin in starting order with its milliseconds (avvio's time tree, for a flat list). */
export function formatTree(timings: readonly PluginTiming[], totalMs: number): string {
  const nameWidth = Math.max(0, ...timings.map(({ manifest }) => manifest.name.length));
  const lines = timings.map((timing, i) => {
    const { manifest, setupMs, startMs, openMs } = timing;
    const branch = i === timings.length - 1 ? '└──' : '├──';
    const parts = [`${branch} ${manifest.name.padEnd(nameWidth)} ${milliseconds(setupMs + startMs)}`];
    if (openMs >= 0.05) parts.push(`open ${milliseconds(openMs).trim()}`);
    if (manifest.needs.length > 0) parts.push(`needs ${manifest.needs.join(', ')}`);
    if (manifest.provides.length > 0) parts.push(`provides ${manifest.provides.map(tokenName).join(', ')}`);
    return parts.join('  ');
  });
  return [`kernel ${milliseconds(totalMs).trim()}`, ...lines].join('\n');
}

function milliseconds(ms: number): string {
  return `${ms.toFixed(1).padStart(7)} ms`;
}
