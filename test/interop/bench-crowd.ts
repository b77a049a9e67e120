import { parseArgs } from 'node:util';
import { messageOf } from '../../kernel/base/errors.js';
import { crowd, type CrowdWish, type Served } from './bench/crowd.js';
import { startTarget } from './support/target.js';

const usage = `npm run bench:crowd -- [options]   many clients of one broker; answers of their registration, memory, notifications

  --clients N   connections (10000)
  --groups N    groups that they share evenly (100)
  --topics N    topics that each group subscribes to beside its retry topic (1)
  --ask         clients ask for their group's members whenever they are told that it changed
  --rate N      registrations a second while they come, then heartbeats a second (333: 10,000 clients, one in 30 s each)
  --steady S    seconds of heartbeats afterwards (10)
  --broker A --pid P   a broker that runs already, by address and process id
  --jvm         the real 4.9.7 broker instead of ours
`;

/** Each client is an open file here and in the broker: \`ulimit -n\` must allow it. */
async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      clients: { type: 'string', default: '10000' },
      groups: { type: 'string', default: '100' },
      topics: { type: 'string', default: '1' },
      ask: { type: 'boolean', default: false },
      rate: { type: 'string', default: '333' },
      steady: { type: 'string', default: '10' },
      broker: { type: 'string' },
      pid: { type: 'string' },
      jvm: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const wish: CrowdWish = {
    clients: Number(values.clients),
    groups: Number(values.groups),
    topicsPerGroup: Number(values.topics),
    ask: values.ask,
    perSecond: Number(values.rate),
    steadySeconds: Number(values.steady),
  };
  if (values.broker !== undefined) return report(wish, { broker: values.broker, brokerPid: Number(values.pid) });
  const target = await startTarget({ kind: values.jvm ? 'jvm' : 'kernel' });
  try {
    await report(wish, target);
  } finally {
    await target.stop();
  }
}

async function report(wish: CrowdWish, served: Served): Promise<void> {
  process.stdout.write(`${JSON.stringify({ ...wish, ...(await crowd(wish, served)) }, null, 2)}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n${usage}`);
  process.exitCode = 1;
});
