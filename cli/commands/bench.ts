import { type Command, Option } from 'commander';
import type { LoadKind } from '../bench/bench.js';
import type { BenchFlags } from '../bench/settings.js';
import { addTopologies } from './bench-topologies.js';
import { wholeNumber as whole } from './whole-number.js';

const loads: readonly (readonly [LoadKind, string])[] = [
  ['produce', 'single sends, a fixed number in flight'],
  ['batch', 'batch sends, a fixed number in flight'],
  ['consume', 'pulls of a backlog from offset 0, several queues in parallel'],
];

/** `kernel bench produce|batch|consume`: load on any RocketMQ 4.9 broker, with percentiles. */
export function register(program: Command): void {
  const bench = program.command('bench').description('measure a broker: rate, latency, CPU per message');
  for (const [kind, description] of loads) addLoad(bench, kind, description);
  addTopologies(bench);
}

function addLoad(bench: Command, kind: LoadKind, description: string): void {
  const command = bench
    .command(kind)
    .description(description)
    .option('-n, --namesrv-addr <list>', 'name servers: host:port[;host:port]', '127.0.0.1:9876')
    .option('--broker <address>', 'go to this broker directly, without a name server')
    .option('-t, --topic <topic>', 'topic', 'kernel-bench')
    .option('-s, --size <bytes>', 'body size', whole(1, 4 * 1024 * 1024), 128)
    .option('-w, --window <requests>', 'requests in flight on each connection', whole(1, 65_536), 64)
    .option('-c, --connections <count>', 'connections', whole(1, 1000), 1)
    .option(
      '-d, --duration <seconds>',
      'measured time of a run; consume: 0 reads the backlog once',
      whole(0, 86_400),
      10,
    )
    .option('--warm <seconds>', 'load before the measured time', whole(0, 3600), 2)
    .addOption(
      new Option('--header <form>', 'form of the request headers').choices(['binary', 'json']).default('binary'),
    )
    .option('--json <file>', 'write all figures to this file')
    .option('--pid <pid>', "the broker's process on this machine: its CPU and memory are read", whole(1, 2 ** 31 - 1))
    .option('--peer <address>', 'give the same load to a second broker in turn (A B A B) and print ratios')
    .option('--peer-pid <pid>', "the second broker's process", whole(1, 2 ** 31 - 1))
    .option('--turns <count>', 'runs on each side with --peer', whole(1, 100), 2);
  if (kind !== 'consume')
    command.option(
      '--queues <count>',
      'create the topic with so many queues first (default: as it is)',
      whole(1, 1024),
    );
  if (kind !== 'consume') command.option('--keys', 'give each message a property KEYS beside its unique key');
  if (kind === 'batch') command.option('--batch <messages>', 'messages per request', whole(2, 10_000), 32);
  if (kind === 'consume') command.option('--pull <messages>', 'messages per pull', whole(1, 1024), 32);
  command.action(async (flags: BenchFlags) => {
    const [{ bench: run }, { benchSettings }, { printer }] = await Promise.all([
      import('../bench/bench.js'),
      import('../bench/settings.js'),
      import('../printer.js'),
    ]);
    await run(benchSettings(kind, flags), printer, process.stderr);
  });
}
