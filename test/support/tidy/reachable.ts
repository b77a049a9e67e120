import type { Source } from './sources.js';

/** What package.json names as files that are run or imported from outside. */
export interface PackageFile {
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

/**
 * Files that nothing leads to. Code of the product must be reached from a command, an export or a script; what only tests use
 * lies under test/. The wire formats are complete before every code has a user, so for protocol/ a test is enough.
 */
export function deadFiles(sources: readonly Source[], manifest: PackageFile): string[] {
  const entries = [...entriesOf(manifest), ...toolsOf(sources)];
  const tests = sources.map((source) => source.path).filter((path) => path.endsWith('.test.ts'));
  const ofProduct = reach(sources, entries);
  const ofAll = reach(sources, [...entries, ...tests]);
  const missing = entries.filter((entry) => !sources.some((source) => source.path === entry));
  return [
    ...missing.map((entry) => `package.json names ${entry}, which does not exist`),
    ...sources
      .filter(({ path }) => !(/^(test|protocol|examples)\//.test(path) ? ofAll : ofProduct).has(path))
      .filter(({ path }) => !path.startsWith('examples/'))
      .map(({ path }) => `${path}: nothing leads here`),
  ];
}

/** Sources of everything in `dist/` that package.json names. */
function entriesOf({ bin, exports, scripts }: PackageFile): string[] {
  const named = JSON.stringify([bin, exports, scripts]).matchAll(/dist\/([\w./-]+?)\.js/g);
  return [...new Set([...named].map((match) => `${match[1]}.ts`))];
}

/** Programs among the tests that people start by hand; each says at its top how. */
function toolsOf(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path, text }) => path.startsWith('test/') && text.includes(`node dist/${path.replace(/\.ts$/, '.js')}`))
    .map(({ path }) => path);
}

function reach(sources: readonly Source[], entries: readonly string[]): Set<string> {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const reached = new Set<string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const source = byPath.get(path);
    if (source === undefined || reached.has(path)) continue;
    reached.add(path);
    waiting.push(...source.imports.filter((found) => found.inside).map((found) => found.target));
  }
  return reached;
}
