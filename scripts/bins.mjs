// Short names of the package's commands. package.json does not list them while it lies in a checkout: npx would then install the
// checkout into a cache of its own, which builds it once more and makes every start slower. link-bin.mjs puts them where npx looks
// first; pack-bins.mjs puts them into the package that is published.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const manifestPath = join(root, 'package.json');
export const shortNames = { kernel: 'mqkernel' };

export function readManifest() {
  return JSON.parse(readFileSync(manifestPath, 'utf8'));
}

/** Every command with its file, under its long and its short name. */
export function allBins(bin) {
  const short = Object.entries(shortNames).map(([name, of]) => [name, bin[of]]);
  return { ...Object.fromEntries(short), ...bin };
}
