import { type Command, Option } from 'commander';
import type { BenchFlags, LoadKind } from '../bench/settings.js';
import { addTopologies } from './bench-topologies.js';
import { seconds, wholeNumber as whole } from './whole-number.js';

const loads: readonly (readonly [LoadKind, string, (command: Command) => void])[] = [
  ['produce', 'single sends, a fixed number in flight; or one-way', produceFlags],
  ['batch', 'batch sends, a fixed number in flight', batchFlags],
  [
    'consume',
    'pulls of a backlog from offset 0, several queues in parallel; or the tail of what it sends',
    consumeFlags,
  ],
  [
    'latency',
    'from send to consumer at a fixed rate, counted from the time at which each message was meant to leave',
    latencyFlags,
  ],
  ['transactions', 'half messages and their commits, a fixed number of transactions open', transactionFlags],
  [
    'delays',
    'delayed messages that fall due at a fixed rate: how late they are stored for consumers, by the clock of the broker',
    delayFlags,
  ],
];

/** `kernel bench produce|batch|consume|latency|transactions|delays`: load on any RocketMQ 4.9 broker, with percentiles. */
export function register(program: Command): void {
  const bench = program.command('bench').description('measure a broker: rate, latency, CPU per message');
  for (const [kind, description, ownFlags] of loads) {
    const command = bench.command(kind).description(description);
    placeFlags(command);
    ownFlags(command);
    runFlags(command);
    command.action(async (flags: BenchFlags) => {
      const [{ bench: run }, { benchSettings }, { printer }] = await Promise.all([
        import('../bench/bench.js'),
        import('../bench/settings.js'),
        import('../printer.js'),
      ]);
      await run(benchSettings(kind, flags), printer, process.stderr);
    });
  }
  addTopologies(bench);
}

function placeFlags(command: Command): void {
  command
    .option('-n, --namesrv-addr <list>', 'name servers: host:port[;host:port]', '127.0.0.1:9876')
    .option('--broker <address>', 'go to this broker directly, without a name server')
    .option('-t, --topic <topic>', 'topic', 'kernel-bench')
    .option('--topics <count>', 'spread over so many topics, TOPIC-0000 and so on', whole(1, 10_000), 1)
    .option('-c, --connections <count>', 'connections', whole(1, 10_000), 1);
}

function runFlags(command: Command): void {
  command
    .option('-d, --duration <seconds>', durationText(command.name()), whole(0, 86_400), 10)
    .option('--warm <seconds>', 'load before the measured time', whole(0, 3600), 2)
    .addOption(
      new Option('--header <form>', 'form of the request headers').choices(['binary', 'json']).default('binary'),
    )
    .option('--json <file>', 'write all figures to this file')
    .option('--pid <pid>', "the broker's process on this machine: its CPU and memory are read", whole(1, 2 ** 31 - 1))
    .option('--peer <address>', 'give the same load to a second broker in turn (A B A B) and print ratios of medians')
    .option('--peer-pid <pid>', "the second broker's process", whole(1, 2 ** 31 - 1))
    .option('--turns <count>', 'runs on each side (default: 1, with --peer 3)', whole(1, 100));
}

const durationText = (kind: string): string =>
  `measured time of a run${kind === 'consume' ? '; 0 reads the backlog once' : ''}`;

function sizeFlag(command: Command, more = ''): Command {
  return command.option('-s, --size <bytes>', `body size (default: 128)${more}`, whole(1, 4 * 1024 * 1024));
}

function windowFlag(command: Command, more = ''): Command {
  const text = `requests in flight on each connection (default: 64)${more}`;
  return command.option('-w, --window <requests>', text, whole(1, 65_536));
}

function queuesFlag(command: Command, without: string): Command {
  const text = `create the topic with so many queues first (default: as it is; ${without})`;
  return command.option('--queues <count>', text, whole(1, 1024));
}

function messageFlags(command: Command): void {
  queuesFlag(sizeFlag(command), '8 with --topics')
    .option('--keys', 'give each message a property KEYS beside its unique key')
    .option('--tags <list>', 'give messages these tags in turn: A,B,C')
    .option('--properties <count>', 'give each message so many further properties of 16 bytes', whole(0, 1000));
}

function produceFlags(command: Command): void {
  messageFlags(windowFlag(command, '; with --oneway: messages per write'));
  command.option('--oneway', 'ask for no answers; counts what the broker stored');
}

function transactionFlags(command: Command): void {
  messageFlags(windowFlag(command, ': transactions'));
}

function delayFlags(command: Command): void {
  queuesFlag(sizeFlag(pullFlag(command)), '8 when there is none');
  command
    .option('--rate <messages>', 'messages due per second (default: 10000)', whole(1, 1_000_000))
    .option('--level <level>', 'delay level of the messages (default: 1)', whole(1, 1000))
    .option('--timer', 'give each message a delivery time of its own instead of a level')
    .option(
      '--delay <seconds>',
      "what the level means at this broker (default: as in RocketMQ's table); with --timer how far ahead the times are (default: 5)",
      seconds(0.001, 86_400),
    );
}

function batchFlags(command: Command): void {
  messageFlags(windowFlag(command));
  command.option('--batch <messages>', 'messages per request', whole(2, 10_000), 32);
}

function pullFlag(command: Command): Command {
  return command.option('--pull <messages>', 'messages per pull', whole(1, 1024), 32);
}

function consumeFlags(command: Command): void {
  pullFlag(windowFlag(command))
    .option('--tags <expression>', 'take only these: "A || B"')
    .option(
      '--group <name>',
      'pull as a member of this group, which subscribes by a heartbeat: filter bits are kept for it',
    )
    .option('--sql <expression>', 'take only what matches, for instance "TAGS = \'A\'"; the broker must support SQL92')
    .option('--tail', 'send in this command, too, and read what comes, from the end of the queues')
    .option(
      '--rate <messages>',
      'with --tail: sends per second (default: 0, as fast as answers come)',
      whole(0, 1_000_000),
    );
  queuesFlag(sizeFlag(command, ', of what --tail sends'), 'with --tail 8 when there is none');
}

function latencyFlags(command: Command): void {
  queuesFlag(sizeFlag(pullFlag(command)), '8 when there is none');
  command.option('--rate <messages>', 'sends per second (default: 5000)', whole(1, 1_000_000));
}
