import { type Command, Option } from 'commander';
import type { AllocationRule, Logger, PushConsumer, ReceivedMessage } from '../../client/index.js';
import { ExitCode, KernelError } from '../../kernel/base/errors.js';
import { loadAllocationRule } from '../../plugins/allocation/load.js';
import { printer, type Printer } from '../printer.js';
import { wholeNumber } from './whole-number.js';

interface ConsumeFlags {
  readonly namesrvAddr: string;
  readonly topic: string;
  readonly group: string;
  readonly from: 'first' | 'last';
  readonly expression: string;
  readonly type: string;
  readonly model: 'clustering' | 'broadcasting';
  readonly orderly?: boolean;
  readonly allocate?: string;
  readonly count?: number;
  readonly json?: boolean;
}

const ALLOCATE_HELP = `
Rules for --allocate, each with the class of RocketMQ's Java client that the other members need:
  averagely               neighbouring queues; the default (AllocateMessageQueueAveragely)
  circle                  dealt like cards (AllocateMessageQueueAveragelyByCircle)
  consistent-hash[:10]    most queues stay where they are when members come and go; with this number of
                          virtual nodes (AllocateMessageQueueConsistentHash)
  config:QUEUES           these queues, such as Order/broker-a/0-3,Order/broker-b/7 (AllocateMessageQueueByConfig)
  machine-room:ROOMS      only queues of brokers called room@…, such as east,west (AllocateMessageQueueByMachineRoom)
  'machine-room-nearby:[RULE;]ROOMS'
                          queues to the members of their broker's room; broker names and client ids that begin so
                          are in it, such as east=broker-a,10.1.;west=broker-b,10.2. (AllocateMachineRoomNearby)
  FILE|PACKAGE[:OPTIONS]  a rule of your own, see the README`;

/** `kernel consume`: prints messages as they come, until ^C or the count is reached. */
export function register(program: Command): void {
  program
    .command('consume')
    .description('print messages as they come, until ^C')
    .requiredOption('-t, --topic <topic>', 'topic')
    .option('-n, --namesrv-addr <list>', 'name servers: host:port[;host:port]', '127.0.0.1:9876')
    .option('-g, --group <group>', 'consumer group; its progress is kept', 'kernel-consume')
    .addOption(
      new Option('--from <where>', 'where a group begins that never consumed')
        .choices(['first', 'last'])
        .default('first'),
    )
    .option('--expression <expression>', 'take only these: tag1 || tag2, or an expression of --type', '*')
    .option('--type <type>', 'type of the expression: TAG, SQL92 or that of a filter plugin', 'TAG')
    .addOption(
      new Option('--model <model>', 'share the messages with the group, or get all')
        .choices(['clustering', 'broadcasting'])
        .default('clustering'),
    )
    .option('--orderly', 'lock each queue for this member of the group, as ordered consumers of the Java client do')
    .option('--allocate <rule>', 'how the group shares the queues out; the same for all members (below)')
    .option('--count <messages>', 'end after so many messages', wholeNumber(1, 2 ** 31 - 1))
    .option('--json', 'one JSON object for each message, with all its fields')
    .addHelpText('after', ALLOCATE_HELP)
    .action((flags: ConsumeFlags) => consume(flags, printer, process));
}

async function consume(flags: ConsumeFlags, out: Printer, signals: NodeJS.EventEmitter): Promise<void> {
  const { PushConsumer } = await import('../../client/index.js');
  const allocation = await allocationOf(flags);
  const consumer = new PushConsumer({
    namesrvAddr: flags.namesrvAddr,
    group: flags.group,
    ...(allocation === undefined ? {} : { allocation }),
    from: flags.from,
    model: flags.model,
    orderly: flags.orderly === true,
    // One at a time: what was printed is what was consumed, also at the end.
    concurrency: 1,
    logger: problemsTo(out),
  });
  await sayWhenMissing(flags, out);
  await consumer.subscribe(flags.topic, { type: flags.type, expression: flags.expression });
  await untilEnd(consumer, flags, out, signals);
}

async function allocationOf({ allocate, model }: ConsumeFlags): Promise<AllocationRule | undefined> {
  if (allocate === undefined) return undefined;
  if (model === 'clustering') return loadAllocationRule(allocate);
  throw new KernelError('USAGE', '--allocate is for --model clustering: in broadcasting everybody gets every queue', {
    exitCode: ExitCode.usage,
  });
}

/** Waiting for ever without a word looks like a fault. */
async function sayWhenMissing({ namesrvAddr, topic }: ConsumeFlags, out: Printer): Promise<void> {
  const { AdminClient } = await import('../../client/index.js');
  const admin = new AdminClient({ namesrvAddr });
  try {
    if ((await admin.topicRoute(topic)) === undefined) out.error(`topic ${topic} does not exist yet, waiting for it`);
  } finally {
    await admin.close();
  }
}

async function untilEnd(
  consumer: PushConsumer,
  flags: ConsumeFlags,
  out: Printer,
  signals: NodeJS.EventEmitter,
): Promise<void> {
  let left = flags.count ?? Infinity;
  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = () => resolve(consumer.stop());
  });
  signals.once('SIGINT', end);
  signals.once('SIGTERM', end);
  await consumer.start(([message]) => {
    print(message!, flags.json === true, out);
    if (--left === 0) end();
    return 'success';
  });
  await ended;
}

function print(message: ReceivedMessage, json: boolean, out: Printer): void {
  const { body, properties, ...fields } = message;
  if (!json) return out.line(body.toString());
  const text = body.toString();
  // What is no text must not look like one.
  const content = Buffer.from(text).equals(body) ? { body: text } : { bodyBase64: body.toString('base64') };
  out.json({ ...fields, properties: Object.fromEntries(properties), ...content });
}

/** Problems that the consumer goes on with are told on standard error, in one line. */
function problemsTo(out: Printer): Logger {
  const tell = (fields: object, message: string): void => {
    const { problem, topic } = fields as { problem?: unknown; topic?: unknown };
    const where = typeof topic === 'string' ? ` (topic ${topic})` : '';
    out.error(new KernelError('CONSUME', `${message}${where}${typeof problem === 'string' ? `: ${problem}` : ''}`));
  };
  const nothing = (): void => undefined;
  const logger: Logger = { debug: nothing, info: nothing, warn: tell, error: tell, child: () => logger };
  return logger;
}
