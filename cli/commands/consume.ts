import { type Command, Option } from 'commander';
import type { Logger, PushConsumer, ReceivedMessage } from '../../client/index.js';
import { KernelError } from '../../kernel/base/errors.js';
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
  readonly count?: number;
  readonly json?: boolean;
}

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
    .option('--type <type>', 'type of the expression: TAG or SQL92', 'TAG')
    .addOption(
      new Option('--model <model>', 'share the messages with the group, or get all')
        .choices(['clustering', 'broadcasting'])
        .default('clustering'),
    )
    .option('--orderly', 'lock each queue for this member of the group, as ordered consumers of the Java client do')
    .option('--count <messages>', 'end after so many messages', wholeNumber(1, 2 ** 31 - 1))
    .option('--json', 'one JSON object for each message, with all its fields')
    .action((flags: ConsumeFlags) => consume(flags, printer, process));
}

async function consume(flags: ConsumeFlags, out: Printer, signals: NodeJS.EventEmitter): Promise<void> {
  const { PushConsumer } = await import('../../client/index.js');
  const consumer = new PushConsumer({
    namesrvAddr: flags.namesrvAddr,
    group: flags.group,
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
