import type { SeededRandom } from '../../support/seeded-random.js';

export type Decision = 'commit' | 'rollback';

/** What a producer means to do with one transaction; what it does when it is asked comes from the same table, as of a database. */
export interface Plan {
  /** What it tells by itself after the half was stored; `nothing`: it dies in between, as far as the broker can see. */
  readonly tells: Decision | 'unknown' | 'nothing';
  /** What it answers in the end; undefined: it never knows. */
  readonly ends: Decision | undefined;
  /** Questions that it answers with unknown before. */
  readonly unknowns: number;
  /** It tells of its own accord at the very moment when it is asked: two ends for one half. */
  readonly late: boolean;
  readonly oneway: boolean;
}

export function planOf(random: SeededRandom): Plan {
  const dice = random.next();
  const ends = random.chance(0.6) ? 'commit' : 'rollback';
  const oneway = random.chance(0.2);
  const decided = { ends, unknowns: 0, late: false, oneway } as const;
  if (dice < 0.5) return { ...decided, tells: ends };
  if (dice < 0.55) return { ...decided, tells: 'unknown', ends: undefined };
  const tells = random.chance(0.5) ? 'unknown' : 'nothing';
  return { ...decided, tells, unknowns: random.below(3), late: random.chance(0.2) };
}
