import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { decodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { parseProperties } from '../../protocol/message/properties.js';
import { until } from '../support/until.js';
import { FakeBroker } from './support/fake-broker.js';

const entry = fileURLToPath(new URL('../../cli/kernel.js', import.meta.url));

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  out: string;
  err: string;
}

function kernel(...args: string[]): Run {
  const child = spawn(process.execPath, [entry, ...args], { stdio: 'pipe' });
  const run: Run = { child, out: '', err: '', ended: new Promise((resolve) => child.on('close', resolve)) };
  child.stdout.on('data', (text: Buffer) => (run.out += text.toString()));
  child.stderr.on('data', (text: Buffer) => (run.err += text.toString()));
  return run;
}

describe('client commands', () => {
  let broker: FakeBroker;
  const at = (): string[] => ['-n', broker.address, '-t', 'T'];

  beforeEach(async () => {
    broker = await FakeBroker.start();
    broker.topics.set('T', { queues: 1 });
  });

  afterEach(() => broker.close());

  it('produce sends a body with all it was given', async () => {
    const run = kernel('produce', ...at(), '--tag', 'red', '--key', 'a', '--key', 'b', '--property', 'x=1=2', 'hello');
    assert.equal(await run.ended, 0, run.err);
    const [request] = broker.asked(RequestCode.SEND_MESSAGE_V2);
    const properties = parseProperties(decodeSendMessageV2(request!.ext).properties!);
    assert.equal(request!.body.toString(), 'hello');
    assert.deepEqual([properties.get('TAGS'), properties.get('KEYS'), properties.get('x')], ['red', 'a b', '1=2']);
    assert.match(run.out, /^SEND_OK [0-9A-F]{32} broker-a:0 offset 0\n$/);
  });

  it('produce sends each line of its input', async () => {
    const run = kernel('produce', ...at(), '--json');
    run.child.stdin!.end('one\ntwo\r\n\n三\n');
    assert.equal(await run.ended, 0, run.err);
    assert.deepEqual(
      broker.asked(RequestCode.SEND_MESSAGE_V2).map(({ body }) => body.toString()),
      ['one', 'two', '三'],
    );
    const results = run.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { queueOffset: number });
    assert.deepEqual(results.map(({ queueOffset }) => queueOffset).sort(), [0, 1, 2]);
  });

  it('produce delays what it sends', async () => {
    for (const [flags, name, value] of [
      [['--delay-level', '3'], 'DELAY', '3'],
      [['--delay', '1.5m'], 'TIMER_DELAY_MS', '90000'],
      [['--deliver-at', '2030-03-17T17:46:40Z'], 'TIMER_DELIVER_MS', '1900000000000'],
    ] as const) {
      const run = kernel('produce', ...at(), ...flags, 'x');
      assert.equal(await run.ended, 0, run.err);
      const request = broker.asked(RequestCode.SEND_MESSAGE_V2).at(-1)!;
      assert.equal(parseProperties(decodeSendMessageV2(request.ext).properties!).get(name), value);
    }
    for (const flags of [
      ['--delay', '10'],
      ['--deliver-at', '10'],
      ['--deliver-at', '2030-13-01'],
      ['--delay', '1s', '--delay-level', '1'],
    ]) {
      const run = kernel('produce', ...at(), ...flags, 'x');
      assert.equal(await run.ended, 2, flags.join(' '));
      assert.equal(run.err.trim().split('\n').length, 1, run.err);
    }
  });

  it('produce repeats a body', async () => {
    assert.equal(await kernel('produce', ...at(), '--count', '50', 'x').ended, 0);
    assert.equal(broker.asked(RequestCode.SEND_MESSAGE_V2).length, 50);
  });

  it('produce says in one line what failed', async () => {
    broker.on(RequestCode.SEND_MESSAGE_V2, { code: ResponseCode.MESSAGE_ILLEGAL, remark: 'too long' });
    const refused = kernel('produce', ...at(), 'x');
    assert.equal(await refused.ended, 1);
    assert.match(refused.err, /^REFUSED: .*code 13: too long\n$/);
    for (const args of [
      ['produce', ...at(), '--property', 'noequals', 'x'],
      ['produce', ...at(), '--count', '2'],
      ['produce', ...at(), '--count', '0', 'x'],
      ['produce', 'x'],
    ]) {
      const run = kernel(...args);
      run.child.stdin!.end();
      assert.equal(await run.ended, 2, args.join(' '));
      assert.equal(run.err.trim().split('\n').length, 1, run.err);
    }
  });

  it('consume prints bodies until the count, and keeps what it printed', async () => {
    broker.fill('T', 0, ['m0', 'm1', 'm2', 'm3']);
    const first = kernel('consume', ...at(), '-g', 'G', '--count', '3');
    assert.equal(await first.ended, 0, first.err);
    assert.equal(first.out, 'm0\nm1\nm2\n');
    assert.equal(broker.committed.get('T@0'), 3);
    const second = kernel('consume', ...at(), '-g', 'G', '--count', '1', '--json');
    assert.equal(await second.ended, 0, second.err);
    const shown = JSON.parse(second.out) as Record<string, unknown>;
    assert.deepEqual([shown['body'], shown['queueOffset'], shown['topic']], ['m3', 3, 'T']);
  });

  it('consume --orderly locks what it takes', async () => {
    broker.fill('T', 0, ['m0']);
    const run = kernel('consume', ...at(), '-g', 'G', '--count', '1', '--orderly');
    assert.equal(await run.ended, 0, run.err);
    assert.equal(run.out, 'm0\n');
    assert.ok(broker.asked(RequestCode.LOCK_BATCH_MQ).length > 0);
    assert.equal(broker.locks.size, 0);
  });

  it('consume ends at an interrupt', async () => {
    const run = kernel('consume', ...at(), '-g', 'G');
    await until(() => broker.asked(RequestCode.PULL_MESSAGE).length > 0, 'it pulls');
    broker.fill('T', 0, ['x']);
    await until(() => run.out === 'x\n', 'the message came');
    run.child.kill('SIGINT');
    assert.equal(await run.ended, 0, run.err);
    assert.equal(broker.committed.get('T@0'), 1);
    assert.equal(broker.asked(RequestCode.UNREGISTER_CLIENT).length, 1);
  });

  it('consume says that it waits for a topic, and takes it up', async () => {
    broker.topics.delete('T');
    const run = kernel('consume', ...at(), '-g', 'G', '--count', '1');
    await until(() => run.err !== '', 'it said something');
    assert.equal(run.err, 'topic T does not exist yet, waiting for it\n');
    broker.topics.set('T', { queues: 1 });
    broker.fill('T', 0, ['x']);
    assert.equal(await run.ended, 0, run.err);
    assert.equal(run.out, 'x\n');
  });

  it('consume does not start with an expression that the broker refuses', async () => {
    broker.on(RequestCode.CHECK_CLIENT_CONFIG, { code: ResponseCode.SYSTEM_ERROR, remark: 'no SQL92 here' });
    const run = kernel('consume', ...at(), '--type', 'SQL92', '--expression', 'a > 1');
    assert.equal(await run.ended, 1);
    assert.match(run.err, /no SQL92 here/);
  });

  it('bench measures, and writes its figures to a file', async () => {
    const file = path.join(tmpdir(), `bench-${process.pid}.json`);
    const load = ['bench', 'produce', ...at(), '-d', '1', '--warm', '0', '-w', '4', '-s', '10', '--json', file];
    const run = kernel(...load, '--peer', broker.address, '--turns', '1', '--pid', String(process.pid));
    assert.equal(await run.ended, 0, run.err);
    const lines = run.out.trim().split('\n');
    assert.equal(lines.length, 4, run.out);
    assert.match(lines[1]!, /^A .* msg\/s .*p99\.9 .*no errors .*broker .* µs CPU\/msg.*generator/);
    assert.match(lines[2]!, /^B /);
    assert.match(lines[3]!, /^A \/ B: {2}msg\/s \d+\.\d\d/);
    const { runs } = JSON.parse(await readFile(file, 'utf8')) as { runs: { messages: number }[] };
    assert.equal(runs.length, 2);
    assert.ok(runs[0]!.messages > 0);
    await rm(file);
  });

  it('bench refuses what cannot be measured', async () => {
    const missing = kernel('bench', 'consume', '-n', broker.address, '-t', 'Nowhere');
    assert.equal(await missing.ended, 1);
    assert.match(missing.err, /NO_ROUTE: topic Nowhere does not exist/);
    const endless = kernel('bench', 'produce', ...at(), '-d', '0');
    assert.equal(await endless.ended, 2);
  });
});
