import type { BenchRun } from './bench.js';
import type { FigureName, Figures } from './compare.js';
import type { Percentiles } from './histogram.js';
import type { LiveLine } from './measure.js';
import type { BenchSettings } from './settings.js';

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

export function settingsLine(settings: BenchSettings): string {
  const { kind, topic, topics, connections, window, perSecond, tail, shape, seconds, warmSeconds } = settings;
  const name = topics === 1 ? topic : `${topic}-0000 … (${topics} topics)`;
  const flight = tail && perSecond > 0 ? '' : ` × ${window} in flight`;
  const time = seconds === 0 ? 'once through' : `${warmSeconds} s warm-up, ${seconds} s measured`;
  return [
    `${kind} ${name}: ${workText(settings)}`,
    `${connections} connection${connections === 1 ? '' : 's'}${flight}`,
    `${shape.form} headers`,
    time,
  ].join(', ');
}

function workText({ kind, shape, pull, delay, tail, perSecond }: BenchSettings): string {
  const { bodyBytes, perRequest, keys, tags, properties, oneWay } = shape;
  if (delay !== undefined) {
    const how = delay.level === undefined ? 'each with its own time' : `of level ${delay.level}`;
    return `${bodyBytes}-byte messages at ${whole(perSecond)}/s, delayed by ${delay.aheadMs / 1000} s, ${how}`;
  }
  if (tail) {
    const pace = perSecond === 0 ? 'as fast as answers come' : `at ${whole(perSecond)}/s`;
    return `${bodyBytes}-byte messages ${pace}, read at the tail with pulls of ${pull.perPull}`;
  }
  if (kind === 'consume') {
    const { type, expression } = pull.filter;
    return `pulls of ${pull.perPull}${expression === '*' ? '' : `, ${type} ${expression}`}`;
  }
  const what = perRequest > 1 ? `${perRequest} × ${bodyBytes} bytes` : `${bodyBytes}-byte messages`;
  const more = [
    keys ? 'KEYS' : '',
    tags.length > 0 ? `tags ${tags.join(' ')}` : '',
    properties > 0 ? `${properties} properties` : '',
  ].filter((text) => text !== '');
  const how = oneWay ? 'one-way ' : kind === 'transactions' ? 'half and commit of ' : '';
  return `${how}${what}${more.length === 0 ? '' : ` with ${more.join(', ')}`}`;
}

export function liveText(line: Parameters<LiveLine>[0]): string {
  const { elapsedSeconds, messagesPerSecond, p99Micros, warm } = line;
  return `${elapsedSeconds.toFixed(0)} s${warm ? ' (warm-up)' : ''}  ${whole(messagesPerSecond)}/s  p99 ${whole(p99Micros)} µs`;
}

/** A run in one line, with further lines for what only some loads know. Latencies are in microseconds. */
export function resultLines(run: BenchRun): string[] {
  const errors = Object.entries(run.errors);
  const parts = [
    `${run.side} ${run.address}`,
    `${whole(run.messagesPerSecond)} msg/s`,
    `${run.mebibytesPerSecond.toFixed(1)} MiB/s`,
    run.oneWay === undefined ? `µs ${percentilesText(run.latencyMicros)}` : 'no latencies without answers',
    `${whole(run.messages)} messages in ${run.seconds.toFixed(1)} s`,
    errors.length === 0
      ? 'no errors'
      : `errors ${errors.map(([code, count]) => `code ${code}: ${whole(count)}`).join(', ')}`,
  ];
  if (run.broker !== undefined)
    parts.push(
      `broker ${run.broker.cpuMicrosPerMessage.toFixed(2)} µs CPU/msg, ${whole(run.broker.rssAnonMebibytes)} MiB anonymous`,
    );
  parts.push(`generator ${run.generatorCpuMicrosPerMessage.toFixed(2)} µs CPU/msg`);
  return [parts.join('  '), ...detailLines(run).map((line) => `  ${line}`)];
}

function detailLines(run: BenchRun): string[] {
  const { sendLatencyMicros: send, behindMessages: behind, lateShare, missing, unanswered, scanned, oneWay } = run;
  const lines: string[] = [];
  const above = run.early === undefined ? 'from send to consumer' : 'from due to stored for consumers';
  if (send !== undefined) lines.push(`from send to answer µs ${percentilesText(send)}; above: ${above}`);
  if (behind !== undefined)
    lines.push(`behind by ${whole(behind.mean)} messages on average, ${whole(behind.max)} at most`);
  if (scanned !== undefined) lines.push(`${whole(run.messages)} returned of ${whole(scanned)} looked at`);
  if (oneWay !== undefined)
    lines.push(
      `whole run: ${whole(oneWay.written)} sent, ${whole(oneWay.stored)} stored` +
        (oneWay.stored < oneWay.written ? `, ${whole(oneWay.written - oneWay.stored)} dropped` : ''),
    );
  if (lateShare !== undefined && lateShare > LATE_SHARE_MAX)
    lines.push(
      `THE GENERATOR COULD NOT KEEP THE RATE: ${percent(lateShare)} of the sends left more than 1 ms late, and their latencies have it in them`,
    );
  if (run.early !== undefined)
    lines.push(run.early === 0 ? 'none early' : `${whole(run.early)} WERE DELIVERED BEFORE THEIR TIME`);
  if (run.repeated !== undefined && run.repeated > 0) lines.push(`${whole(run.repeated)} were delivered again`);
  if (missing !== undefined && missing > 0) lines.push(`${whole(missing)} acknowledged messages never came`);
  if (unanswered !== undefined && unanswered > 0) lines.push(`${whole(unanswered)} sends were never answered`);
  return lines;
}

const LATE_SHARE_MAX = 0.01;

function percentilesText({ p50, p90, p99, p999, max }: Percentiles): string {
  return `p50 ${whole(p50)} p90 ${whole(p90)} p99 ${whole(p99)} p99.9 ${whole(p999)} max ${whole(max)}`;
}

const titles: readonly (readonly [FigureName, string, digits: number])[] = [
  ['messagesPerSecond', 'msg/s', 0],
  ['p50', 'p50', 0],
  ['p90', 'p90', 0],
  ['p99', 'p99', 0],
  ['p999', 'p99.9', 0],
  ['max', 'max', 0],
  ['sendP50', 'send p50', 0],
  ['sendP99', 'send p99', 0],
  ['sendP999', 'send p99.9', 0],
  ['brokerCpuMicrosPerMessage', 'broker CPU/msg', 2],
  ['brokerRssAnonMebibytes', 'anonymous MiB', 0],
  ['generatorCpuMicrosPerMessage', 'generator CPU/msg', 2],
];

function figuresText(figures: Figures, digits: (own: number) => number): string {
  return titles
    .map(([name, title, own]) => [title, figures[name], digits(own)] as const)
    .filter(([, value]) => value !== undefined)
    .map(([title, value, places]) => `${title} ${places === 0 ? whole(value!) : value!.toFixed(places)}`)
    .join('  ');
}

/** The median of each figure over the turns of one side. */
export function medianLine(side: string, turns: number, medians: Figures): string {
  return `${side} medians of ${turns}:  ${figuresText(medians, (own) => own)}`;
}

/** A's medians in multiples of B's. */
export function ratioLine(ratios: Figures): string {
  return `A / B:  ${figuresText(ratios, () => 2)}`;
}
