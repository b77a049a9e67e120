import { parseArgs } from 'node:util';
import { messageOf } from '../../kernel/base/errors.js';
import { crowd, type CrowdWish } from './bench/crowd.js';
import { startTarget } from './support/target.js';

const usage = `npm run bench:crowd -- [options]   many clients of one broker; answers of their registration, memory, notifications

  --clients N   connections (10000)
  --groups N    groups that they share evenly (100)
  --topics N    topics that each group subscribes to beside its retry topic (1)
  --ask         clients ask for their group's members whenever they are told that it changed
  --steady S    seconds of heartbeats at 333 a second afterwards (10)
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
      steady: { type: 'string', default: '10' },
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
    steadySeconds: Number(values.steady),
  };
  const target = await startTarget({ kind: values.jvm ? 'jvm' : 'kernel' });
  try {
    process.stdout.write(`${JSON.stringify({ ...wish, ...(await crowd(wish, target)) }, null, 2)}\n`);
  } finally {
    await target.stop();
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n${usage}`);
  process.exitCode = 1;
});
