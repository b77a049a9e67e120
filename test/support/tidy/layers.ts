import type { Source } from './sources.js';

interface Layer {
  /** Folder or file from the root; the longest that fits is a file's layer. */
  readonly folder: string;
  /** What its files may import beside their own folder: patterns of paths without `.ts`, `*` for one name, `**` for any. */
  readonly may: readonly string[];
  /** The same, for `import type` only. */
  readonly mayAsTypes?: readonly string[];
  /** `self`: the whole layer is one; `first`: only the folder below it (`plugins/send`) may import freely within itself. */
  readonly own: 'self' | 'first';
}

/** Who may import whom, as ARCHITECTURE.md says it. A folder that is not here fails. */
const layers: readonly Layer[] = [
  { folder: 'kernel/base', own: 'self', may: [] },
  { folder: 'protocol', own: 'self', may: ['kernel/base/**'] },
  { folder: 'store', own: 'self', may: ['protocol/**', 'kernel/base/**'] },
  { folder: 'kernel', own: 'self', may: [], mayAsTypes: ['config/**'] },
  {
    folder: 'workers',
    own: 'first',
    may: [
      'kernel/{ring,threads,base}/**',
      'store/**',
      'protocol/**',
      'plugins/filter/*/rule',
      'plugins/filter/{contract,compiler}',
      'workers/*/contract',
      'workers/urls',
    ],
    mayAsTypes: ['config/**'],
  },
  { folder: 'workers/urls.ts', own: 'self', may: ['workers/*/entry'] },
  {
    folder: 'plugins',
    own: 'first',
    may: ['kernel/**', 'protocol/**', 'store/**', 'workers/*/contract', 'workers/*/handle', 'plugins/**/contract'],
    mayAsTypes: ['config/**'],
  },
  { folder: 'plugins/plugin-api.ts', own: 'self', may: ['plugins/**/{contract,conformance}'] },
  { folder: 'config', own: 'self', may: ['kernel/base/**'] },
  {
    folder: 'config/profiles',
    own: 'self',
    may: ['config/**', 'kernel/base/**', 'plugins/**/index', 'plugins/filter/load'],
  },
  {
    folder: 'client',
    own: 'self',
    may: [
      'protocol/**',
      'kernel/base/**',
      'plugins/allocation/**/{contract,rule}',
      'plugins/filter/**/{contract,rule}',
    ],
  },
  { folder: 'cli', own: 'self', may: ['config/**', 'kernel/**', 'client/**', 'store/**', 'plugins/allocation/load'] },
  { folder: 'examples', own: 'self', may: [] },
  { folder: 'test', own: 'self', may: ['**'] },
];

/** One line for each import that crosses a wall, and for each file in a folder that no layer knows. */
export function layerViolations(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const layer = layerOf(source.path);
    if (layer === undefined) return [`${source.path}: no layer lists this folder`];
    return source.imports
      .filter((found) => found.inside && !isAllowed(layer, source.path, found.target, found.typesOnly))
      .map((found) => `${source.path}:${found.line}: ${layer.folder} may not import ${found.target}`);
  });
}

function layerOf(path: string): Layer | undefined {
  const fitting = layers.filter((layer) => path === layer.folder || path.startsWith(`${layer.folder}/`));
  return fitting.sort((a, b) => b.folder.length - a.folder.length)[0];
}

function isAllowed(layer: Layer, from: string, target: string, typesOnly: boolean): boolean {
  if (target.startsWith(`${ownFolder(layer, from)}/`)) return true;
  const patterns = typesOnly ? [...layer.may, ...(layer.mayAsTypes ?? [])] : layer.may;
  return patterns.some((pattern) => matches(pattern, target.replace(/\.ts$/, '')));
}

function ownFolder(layer: Layer, from: string): string {
  return layer.own === 'self' ? layer.folder : from.split('/').slice(0, 2).join('/');
}

function matches(pattern: string, path: string): boolean {
  const expression = pattern
    .replace(/\{(.*?)\}/g, (_, words: string) => `(${words.replaceAll(',', '|')})`)
    .replace(/\*\*\/|\*\*|\*/g, (star) => ({ '**/': '(.*/)?', '**': '.*', '*': '[^/]*' })[star]!);
  return new RegExp(`^${expression}$`).test(path);
}
