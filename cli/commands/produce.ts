import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import type { OutgoingMessage, Producer, SendResult } from '../../client/index.js';
import { ExitCode, KernelError } from '../../kernel/base/errors.js';
import { collect } from '../collect.js';
import { printer, type Printer } from '../printer.js';
import { duration, instant } from './times.js';
import { wholeNumber } from './whole-number.js';

interface ProduceFlags {
  readonly namesrvAddr: string;
  readonly topic: string;
  readonly group: string;
  readonly tag?: string;
  readonly key?: readonly string[];
  readonly property?: readonly string[];
  readonly count?: number;
  readonly delayLevel?: number;
  readonly delay?: number;
  readonly deliverAt?: Date;
  readonly json?: boolean;
}

/** Sends in flight: enough to be fast, few enough that an interrupt loses little. */
const IN_FLIGHT = 32;

/** `kernel produce`: sends one body, or each line of standard input. */
export function register(program: Command): void {
  program
    .command('produce')
    .description('send messages: the body given, or one for each line of standard input')
    .argument('[body]', 'body of the message')
    .requiredOption('-t, --topic <topic>', 'topic')
    .option('-n, --namesrv-addr <list>', 'name servers: host:port[;host:port]', '127.0.0.1:9876')
    .option('-g, --group <group>', 'producer group', 'kernel-produce')
    .option('--tag <tag>', 'tag')
    .option('--key <key>', 'key for look-up, repeatable', collect)
    .option('--property <name=value>', 'property of the message, repeatable', collect)
    .option('--count <times>', 'send the body so often (default: 1)', wholeNumber(1, 2 ** 31 - 1))
    .option('--delay-level <level>', "deliver after this level of the broker's messageDelayLevel", wholeNumber(1, 1000))
    .option(
      '--delay <time>',
      'deliver after this time: 10s, 5m, 2h, 1d, 250ms (not at brokers of Apache RocketMQ 4.9)',
      duration,
    )
    .option('--deliver-at <time>', 'deliver at this time: 2030-01-31T08:00:00Z (likewise)', instant)
    .option('--json', 'one JSON object for each message sent')
    .action((body: string | undefined, flags: ProduceFlags) => produce(body, flags, process.stdin, printer));
}

async function produce(
  body: string | undefined,
  flags: ProduceFlags,
  input: NodeJS.ReadableStream,
  out: Printer,
): Promise<void> {
  if (body === undefined && flags.count !== undefined)
    throw usage('--count needs a body to repeat', 'give the body as an argument');
  const template = templateOf(flags);
  const { Producer } = await import('../../client/index.js');
  const producer = new Producer({ namesrvAddr: flags.namesrvAddr, group: flags.group });
  await producer.start();
  try {
    const bodies = body === undefined ? linesOf(input) : repeated(body, flags.count ?? 1);
    await sendAll(producer, template, bodies, (result) => print(result, flags.json === true, out));
  } finally {
    await producer.stop();
  }
}

function templateOf(flags: ProduceFlags): Omit<OutgoingMessage, 'body'> {
  const properties = (flags.property ?? []).map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw usage(`--property ${text} has no name or no value`, 'write --property name=value');
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  const { topic, tag, key: keys, delayLevel, delay: delayMs, deliverAt } = flags;
  if ([delayLevel, delayMs, deliverAt].filter((one) => one !== undefined).length > 1)
    throw usage('--delay-level, --delay and --deliver-at exclude each other', 'give one of them');
  return { topic, tag, keys, properties: Object.fromEntries(properties), delayLevel, delayMs, deliverAt };
}

function usage(what: string, remedy: string): KernelError {
  return new KernelError('USAGE', what, { remedy, exitCode: ExitCode.usage });
}

function* repeated(body: string, times: number): Generator<string> {
  for (let sent = 0; sent < times; sent++) yield body;
}

async function* linesOf(input: NodeJS.ReadableStream): AsyncGenerator<string> {
  for await (const line of createInterface({ input, crlfDelay: Infinity })) if (line !== '') yield line;
}

/** In order of the bodies; the first failure ends it, after those in flight were told. */
async function sendAll(
  producer: Producer,
  template: Omit<OutgoingMessage, 'body'>,
  bodies: Iterable<string> | AsyncIterable<string>,
  told: (result: SendResult) => void,
): Promise<void> {
  const inFlight = new Set<Promise<void>>();
  let failure: unknown;
  for await (const body of bodies) {
    const sending = producer.send({ ...template, body }).then(told, (error: unknown) => {
      failure ??= error;
    });
    inFlight.add(sending);
    void sending.then(() => inFlight.delete(sending));
    if (inFlight.size >= IN_FLIGHT) await Promise.race(inFlight);
    if (failure !== undefined) break;
  }
  await Promise.all(inFlight);
  if (failure !== undefined) throw failure;
}

function print(result: SendResult, json: boolean, out: Printer): void {
  if (json) return out.json(result);
  const { status, msgId, queue, queueOffset } = result;
  out.line(`${status} ${msgId} ${queue.brokerName}:${queue.queueId} offset ${queueOffset}`);
}
