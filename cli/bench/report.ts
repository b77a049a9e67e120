import type { BenchRun, BenchSettings } from './bench.js';
import type { LiveLine } from './measure.js';

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');

export function settingsLine(settings: BenchSettings): string {
  const { kind, topic, bodyBytes, connections, window, perRequest, keys, form, seconds, warmSeconds } = settings;
  const what = {
    produce: `${bodyBytes}-byte messages`,
    batch: `${perRequest} × ${bodyBytes} bytes`,
    consume: `pulls of ${perRequest}`,
  };
  const time = seconds === 0 ? 'once through' : `${warmSeconds} s warm-up, ${seconds} s measured`;
  return `${kind} ${topic}: ${what[kind]}${keys ? ' with KEYS' : ''}, ${connections} connection${connections === 1 ? '' : 's'} × ${window} in flight, ${form} headers, ${time}`;
}

export function liveText(line: Parameters<LiveLine>[0]): string {
  const { elapsedSeconds, messagesPerSecond, p99Micros, warm } = line;
  return `${elapsedSeconds.toFixed(0)} s${warm ? ' (warm-up)' : ''}  ${whole(messagesPerSecond)}/s  p99 ${whole(p99Micros)} µs`;
}

/** One line per run; latencies are those of one request, in microseconds. */
export function resultLine(run: BenchRun): string {
  const { p50, p90, p99, p999, max } = run.latencyMicros;
  const errors = Object.entries(run.errors);
  const parts = [
    `${run.side} ${run.address}`,
    `${whole(run.messagesPerSecond)} msg/s`,
    `${run.mebibytesPerSecond.toFixed(1)} MiB/s`,
    `µs p50 ${whole(p50)} p90 ${whole(p90)} p99 ${whole(p99)} p99.9 ${whole(p999)} max ${whole(max)}`,
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
  return parts.join('  ');
}

/** A's figures in multiples of B's, from the means of their runs. */
export function ratioLine(runs: readonly BenchRun[]): string {
  const mean = (side: string, value: (run: BenchRun) => number | undefined): number | undefined => {
    const values = runs.filter((run) => run.side === side).map(value);
    if (values.length === 0 || values.some((one) => one === undefined)) return undefined;
    return values.reduce<number>((sum, one) => sum + one!, 0) / values.length;
  };
  const ratio = (name: string, value: (run: BenchRun) => number | undefined): string => {
    const [a, b] = [mean('A', value), mean('B', value)];
    return `${name} ${a === undefined || b === undefined || b === 0 ? '–' : (a / b).toFixed(2)}`;
  };
  return [
    'A / B:',
    ratio('rate', (run) => run.messagesPerSecond),
    ratio('p50', (run) => run.latencyMicros.p50),
    ratio('p99', (run) => run.latencyMicros.p99),
    ratio('broker CPU/msg', (run) => run.broker?.cpuMicrosPerMessage),
    ratio('anonymous memory', (run) => run.broker?.rssAnonMebibytes),
  ].join('  ');
}
