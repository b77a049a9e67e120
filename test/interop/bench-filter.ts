import 'reflect-metadata';
import Table from 'cli-table3';
import { systemClock } from '../../kernel/base/clock.js';
import { RecordProperties, type CompiledFilter } from '../../plugins/filter/contract.js';
import sql92 from '../../plugins/filter/sql92/index.js';
import tag from '../../plugins/filter/tag/index.js';
import { CachingFilterRegistry } from '../../plugins/filter/registry.js';
import { silentLogger } from '../../kernel/base/logger.js';
import { measure } from '../../protocol/message/record.js';
import { testRecord } from '../support/records.js';
import { SeededRandom } from '../support/seeded-random.js';
import { propertyText } from '../support/send-pull.js';
import { requireJava, runJava } from './support/java.js';

/** Messages decided between two looks at the clock, as many as a pull looks at. */
const RECORDS = 800;
const MILLIS = 500;
const ROUNDS = 5;

const expressions = [
  'a > 5',
  "region = 'eu'",
  'price > 12.5',
  'missing IS NULL',
  "a BETWEEN 1 AND 5 AND region IN ('eu', 'us')",
  "(a > 3 OR price <= 50.0) AND NOT (region = 'asia') AND urgent = TRUE",
];

/**
 * `npm run bench:filter`, that is `node dist/test/interop/bench-filter.js`: SQL92 decisions a second on one core, from the bytes of a
 * record with ten properties to true or false, here and by the classes of the real broker, one after the other. By CPU time of the whole
 * process, garbage collection included: other work on the machine counts little.
 */
async function main(): Promise<void> {
  requireJava();
  const records = makeRecords();
  const task = {
    records: records.map((record) => record.toString('base64')),
    expressions,
    millis: MILLIS,
    rounds: ROUNDS,
  };
  const ours = expressions.map((expression) => measured(expression, records));
  const flags = ['-XX:+UseG1GC', '-Xms1g', '-Xmx1g'];
  const java = await runJava('mqk.Sql92Bench', [], { input: `${JSON.stringify(task)}\n`, timeoutMs: 300_000, flags });
  if (java.code !== 0) throw new Error(java.stderr);
  const theirs = java.stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ').map(Number) as [rate: number, percent: number]);
  const table = new Table({
    head: ['expression', 'true', 'decisions/s', '4.9.7', 'ratio'],
    style: { head: [], border: [] },
  });
  for (const [at, expression] of expressions.entries()) {
    const [[rate, percent], [javaRate, javaPercent]] = [ours[at]!, theirs[at]!];
    if (percent !== javaPercent)
      throw new Error(`${expression}: true for ${percent} % here, for ${javaPercent} % there`);
    table.push([expression, `${percent} %`, grouped(rate), grouped(javaRate), (rate / javaRate).toFixed(2)]);
  }
  process.stdout.write(`${table.toString()}\n`);
}

function makeRecords(): Buffer[] {
  const random = new SeededRandom(92);
  const pick = (choices: readonly string[]): string => choices[random.below(choices.length)]!;
  return Array.from({ length: RECORDS }, (_, at) => {
    const properties = {
      KEYS: `order-${at}`,
      UNIQ_KEY: 'C0A80001000018B4AAC2084D8D7B0000',
      WAIT: 'true',
      a: String(random.below(10)),
      region: pick(['eu', 'us', 'asia', 'africa']),
      price: (random.below(10_000) / 100).toFixed(2),
      urgent: pick(['true', 'false']),
      customer: `c${random.below(100_000)}`,
      TAGS: pick(['a', 'b']),
      CLUSTER: 'DefaultCluster',
    };
    return testRecord({
      topic: 'orders',
      physicalOffset: 0,
      body: Buffer.alloc(128),
      properties: propertyText(properties),
    });
  });
}

/** The best rate of some rounds, and the share of true in percent. Guarded and read as a pull does it. */
function measured(expression: string, records: readonly Buffer[]): [rate: number, percent: number] {
  const registry = new CachingFilterRegistry(silentLogger, systemClock, [tag, sql92]);
  const filter = registry.compile('SQL92', expression);
  let [best, decided, matching] = [0, 0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const start = cpuMillis();
    let [count, now] = [0, start];
    for (; now < start + MILLIS; now = cpuMillis()) {
      matching += matchesIn(filter, records);
      count += records.length;
    }
    decided += count;
    best = Math.max(best, (count * 1000) / (now - start));
  }
  return [Math.round(best), Math.floor((100 * matching) / decided)];
}

function cpuMillis(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function matchesIn(filter: CompiledFilter, records: readonly Buffer[]): number {
  const properties = new RecordProperties();
  let matching = 0;
  for (const record of records) {
    const { propertiesAt, propertiesBytes } = measure(record, 0);
    if (filter.matches!(properties.at(record, propertiesAt, propertiesAt + propertiesBytes))) matching++;
  }
  return matching;
}

function grouped(rate: number): string {
  return rate.toLocaleString('en-US');
}

await main();
