/** `CHAOS_SIZE=release` runs the long version of every test; anything else the one that a build server can afford. */
export const isRelease: boolean = process.env['CHAOS_SIZE'] === 'release';

/** How much a test does: the first in CI, the second before a release. */
export function sized<T>(ci: T, release: T): T {
  return isRelease ? release : ci;
}

/** The seed of a run that is to be repeated, from `CHAOS_SEED`. */
export const wantedSeed: number | undefined = seedFrom(process.env['CHAOS_SEED']);

function seedFrom(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const seed = Number(text);
  if (!Number.isInteger(seed) || seed < 0) throw new Error(`CHAOS_SEED is "${text}"; it must be a whole number`);
  return seed;
}
