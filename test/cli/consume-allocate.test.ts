import assert from 'node:assert/strict';
import { FakeBroker } from '../client/support/fake-broker.js';
import { runKernel } from '../support/kernel-command.js';

describe('kernel consume --allocate', () => {
  let broker: FakeBroker;

  beforeEach(async () => {
    broker = await FakeBroker.start();
    broker.topics.set('T', { queues: 2 });
    broker.fill('T', 0, ['of 0']);
    broker.fill('T', 1, ['of 1']);
  });

  afterEach(() => broker.close());

  const consume = (...args: string[]) =>
    runKernel(['consume', '-n', broker.address, '-t', 'T', '--count', '1', ...args]);

  it('consumes the queues that the rule gives', async () => {
    const { exitCode, stdout, stderr } = await consume('--allocate', 'config:T/broker-a/1');
    assert.equal(exitCode, 0, stderr);
    assert.equal(stdout, 'of 1\n');
  });

  it('refuses what cannot be used, in one line', async () => {
    for (const [args, why] of [
      [['--allocate', 'nonsense'], /^PLUGIN_UNKNOWN: no plugin nonsense: .*built in are averagely, circle/],
      [['--allocate', 'circle:1'], /^PLUGIN_OPTIONS: allocation rule circle:1: circle takes no options/],
      [['--allocate', 'circle', '--model', 'broadcasting'], /^USAGE: --allocate is for --model clustering/],
    ] as const) {
      const { exitCode, stderr } = await consume(...args);
      assert.equal(exitCode, 2, args.join(' '));
      assert.match(stderr, why);
      assert.equal(stderr.trim().split('\n').length, 1);
    }
  });

  it('lists the rules in its help', async () => {
    const { stdout } = await runKernel(['consume', '--help']);
    for (const rule of ['averagely', 'circle', 'consistent-hash', 'config:', 'machine-room:', 'machine-room-nearby:'])
      assert.ok(stdout.includes(rule), rule);
  });
});
