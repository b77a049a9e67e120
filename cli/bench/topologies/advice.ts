import { short } from './rows.js';
import type { PhaseSummary, Spread } from './summary.js';

/** Without a reason for another one. */
const DEFAULT = 'dedicated';
/** A topology that is slower by at most so much is taken when it is much better otherwise. */
const RATE_GIVEN = 0.15;
/** p99 or CPU per message: that many times as much is much worse. */
const P99_MUCH = 1.5;
const CPU_MUCH = 1.25;

/** Turns of one topology on a quiet machine lie nearer together. */
const NOISE_MUCH = 0.3;

export interface Advice {
  readonly topology: string;
  /** Differences in rate are within those between turns of one topology. */
  readonly withinNoise: boolean;
  /** How far turns of one topology lie apart, as part of their median; unknown with one turn. */
  readonly noise: number | undefined;
  readonly text: string;
}

/**
 * One topology over all phases; each figure is a geometric mean of medians in multiples of the phase's best. Rates are those of the
 * phases whose rate is not given.
 */
interface Standing {
  readonly topology: string;
  /** At most 1. */
  readonly rate: number;
  /** At least 1. */
  readonly p99: number;
  readonly cpu: number | undefined;
  readonly phases: readonly PhaseSummary[];
}

/** Which topology suits the machine on which these figures were measured, and why. */
export function advise(summaries: readonly PhaseSummary[], turns: number): Advice {
  const ranked = standings(summaries).sort((a, b) => b.rate - a.rate);
  const noise = turns < 2 ? undefined : noiseOf(summaries);
  const standard = ranked.find(({ topology }) => topology === DEFAULT);
  const isNear = (one: Standing): boolean =>
    noise !== undefined && standard !== undefined && Math.abs(one.rate / standard.rate - 1) <= noise;
  const fastest = ranked[0]!;
  const isNearlyAsFast = (one: Standing): boolean => one.rate >= fastest.rate * (1 - RATE_GIVEN);
  const chosen = ranked.find((one) => isNearlyAsFast(one) && isMuchBetter(one, fastest)) ?? fastest;
  const taken = standard !== undefined && isNear(chosen) && !isMuchBetter(chosen, standard) ? standard : chosen;
  const tie = taken === standard && ranked.every(isNear);
  const sentences = tie ? [tieText(taken, ranked, noise!)] : [reasonText(taken, chosen, ranked), noiseText(noise)];
  return {
    topology: taken.topology,
    withinNoise: tie || taken !== chosen,
    noise,
    text: [...sentences, ...restlessText(noise), ...errorsText(summaries)].join(' '),
  };
}

function standings(summaries: readonly PhaseSummary[]): Standing[] {
  const phases = [...new Set(summaries.map(({ phase }) => phase))];
  const best = (phase: string, of: (summary: PhaseSummary) => number, pick: (...values: number[]) => number): number =>
    pick(...summaries.filter((summary) => summary.phase === phase).map(of));
  const hasCpu = summaries.every(({ cpu }) => cpu !== undefined);
  return [...new Set(summaries.map(({ topology }) => topology))].map((topology) => {
    const own = phases.map((phase) => summaries.find((one) => one.phase === phase && one.topology === topology)!);
    const mean = (
      of: (summary: PhaseSummary) => number,
      pick: (...values: number[]) => number,
      among: readonly PhaseSummary[] = own,
    ): number => geometricMean(among.map((summary) => of(summary) / best(summary.phase, of, pick)));
    return {
      topology,
      rate: mean(({ rate }) => atLeastOne(rate), Math.max, unpaced(own)),
      p99: mean(({ p99 }) => atLeastOne(p99), Math.min),
      // A message costs more than nothing; in very short runs the clock of the process may not have ticked.
      cpu: hasCpu ? mean(({ cpu }) => Math.max(1e-3, cpu!.median), Math.min) : undefined,
      phases: own,
    };
  });
}

/** All of them when every rate is given: then they are alike, and the rest decides. */
function unpaced(summaries: readonly PhaseSummary[]): readonly PhaseSummary[] {
  const free = summaries.filter(({ paced }) => !paced);
  return free.length === 0 ? summaries : free;
}

const atLeastOne = ({ median }: Spread): number => Math.max(1, median);

const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

/** Much less p99 or CPU, and not much more of the other one. */
function isMuchBetter(one: Standing, other: Standing): boolean {
  const p99 = other.p99 / one.p99;
  const cpu = one.cpu === undefined || other.cpu === undefined ? 1 : other.cpu / one.cpu;
  return (p99 >= P99_MUCH || cpu >= CPU_MUCH) && p99 > 1 / P99_MUCH && cpu > 1 / CPU_MUCH;
}

/** The middle one of how far the turns of each topology and phase lie apart. */
function noiseOf(summaries: readonly PhaseSummary[]): number {
  const apart = unpaced(summaries)
    .map(({ rate }) => (rate.max - rate.min) / atLeastOne(rate))
    .sort((a, b) => a - b);
  return apart[apart.length >> 1]!;
}

const percent = (part: number): string => `${part >= 0 ? '+' : '−'}${Math.abs(part * 100).toFixed(0)} %`;

function tieText(standard: Standing, ranked: readonly Standing[], noise: number): string {
  const others = ranked
    .filter((one) => one !== standard)
    .map(({ topology, rate }) => `${topology} ${percent(rate / standard.rate - 1)}`);
  return `Take ${DEFAULT}, the default: the rates of the others (${others.join(', ')}) differ from its own by no more than the ${(noise * 100).toFixed(0)} % by which turns of one topology do.`;
}

function reasonText(taken: Standing, chosen: Standing, ranked: readonly Standing[]): string {
  const fastest = ranked[0]!;
  const reason =
    taken !== chosen
      ? `it is the default, and ${chosen.topology} is not faster by more than the noise`
      : taken === fastest
        ? 'it has the highest rates'
        : `its rates are ${percent(taken.rate / fastest.rate - 1)} against those of ${fastest.topology}, whose p99 or CPU per message is much worse`;
  const others = ranked.filter((one) => one !== taken);
  const rival = taken === fastest ? (others.find(({ topology }) => topology === DEFAULT) ?? others[0]) : fastest;
  const first = `Take ${taken.topology} on this machine: ${reason}.`;
  if (rival === undefined) return first;
  const figures = taken.phases.map((phase, index) => figuresText(phase, rival.phases[index]!));
  return `${first} Against ${rival.topology}: ${figures.join('; ')}.`;
}

/** `produce 120,000/s (+9 %), p99 1,200 µs (−20 %), CPU 5.1 µs/message (+1 %)` */
function figuresText(own: PhaseSummary, rival: PhaseSummary): string {
  const figure = (value: number, other: number, unit: string): string =>
    `${short(value)}${unit}${other === 0 ? '' : ` (${percent(value / other - 1)})`}`;
  const parts = [
    `${own.phase} ${figure(own.rate.median, rival.rate.median, '/s')}`,
    `p99 ${figure(own.p99.median, rival.p99.median, ' µs')}`,
  ];
  if (own.cpu !== undefined && rival.cpu !== undefined)
    parts.push(`CPU ${figure(own.cpu.median, rival.cpu.median, ' µs/message')}`);
  return parts.join(', ');
}

function noiseText(noise: number | undefined): string {
  return noise === undefined
    ? 'One turn shows no noise: give --turns 3 or more before you decide.'
    : `Turns of one topology differ by ${(noise * 100).toFixed(0)} % in rate.`;
}

function restlessText(noise: number | undefined): string[] {
  if (noise === undefined || noise <= NOISE_MUCH) return [];
  return ['That is much: repeat it while nothing else runs on this machine, or with more --seconds.'];
}

function errorsText(summaries: readonly PhaseSummary[]): string[] {
  const refused = summaries.filter(({ errors }) => errors > 0);
  if (refused.length === 0) return [];
  const where = refused.map(({ topology, phase, errors }) => `${topology} ${phase} ${short(errors)}`).join(', ');
  return [`Requests were refused (${where}): such figures are no comparison; see the errors by code with --json.`];
}
