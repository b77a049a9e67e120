import assert from 'node:assert/strict';
import type { KernelError } from '../../../kernel/base/errors.js';
import type { DeathPolicy } from '../../../kernel/threads/contract.js';
import { defaultThreadLimits, type ThreadLimits } from '../../../kernel/threads/limits.js';
import { Supervisor, type Supervised } from '../../../kernel/threads/supervisor.js';
import { FakeClock } from '../../support/fake-clock.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { until } from '../../support/until.js';

class FakeThread implements Supervised {
  readonly name = 'reput';
  readonly services = ['reput', 'schedule'];
  word: number | undefined = 0;
  respawns = 0;
  /** How many of the next respawns fail. */
  failures = 0;

  constructor(readonly policy: DeathPolicy = 'restart') {}

  beat(): number | undefined {
    return this.word;
  }

  respawn(): Promise<void> {
    this.respawns++;
    return this.failures-- > 0 ? Promise.reject(new Error('no file descriptors left')) : Promise.resolve();
  }
}

describe('supervisor', () => {
  let clock: FakeClock;
  let fatal: KernelError[];
  let kills: number;
  let supervisor: Supervisor;
  const logger = recordingLogger();

  const supervise = (limits: Partial<ThreadLimits> = {}): void => {
    clock = new FakeClock();
    fatal = [];
    kills = 0;
    logger.lines.length = 0;
    supervisor = new Supervisor({
      clock,
      logger,
      // Long enough that its own interval does not get between the checks of a test.
      limits: { ...defaultThreadLimits, hangTimeoutMs: 100_000, restartDelayMs: 1, ...limits },
      onFatal: (error) => fatal.push(error),
      kill: () => kills++,
    });
  };
  afterEach(() => supervisor.close());

  /** Time passes, and the supervisor looks every tenth of the timeout as its timer would. */
  const pass = (ms: number, everyCheck: () => void = () => undefined): void => {
    for (let passed = 0; passed < ms; passed += 10_000) {
      clock.advance(10_000);
      everyCheck();
      supervisor.check();
    }
  };

  it('kills only after the heartbeat stood still for the whole timeout', () => {
    supervise();
    const thread = new FakeThread();
    supervisor.watch(thread);
    pass(500_000, () => thread.word!++);
    assert.equal(kills, 0);
    pass(90_000);
    assert.equal(kills, 0);
    pass(10_000);
    assert.equal(kills, 1);
    const [line] = logger.lines;
    assert.match(line?.message ?? '', /thread 'reput' hangs/);
    assert.deepEqual(line?.fields, { thread: 'reput', services: ['reput', 'schedule'], hangTimeoutMs: 100_000 });
  });

  it('does not kill after a time in which the whole process stood still', () => {
    supervise();
    const thread = new FakeThread();
    supervisor.watch(thread);
    pass(50_000);
    clock.advance(3_600_000);
    supervisor.check();
    assert.equal(kills, 0);
    thread.word = 1;
    pass(90_000);
    assert.equal(kills, 0);
  });

  it('does not count while a service starts or stops', () => {
    supervise();
    const thread = new FakeThread();
    supervisor.watch(thread);
    pass(90_000);
    thread.word = undefined;
    pass(500_000);
    thread.word = 0;
    pass(90_000);
    assert.equal(kills, 0);
  });

  it('restarts a dead thread and counts', async () => {
    supervise();
    const thread = new FakeThread();
    supervisor.watch(thread);
    supervisor.died(thread, new Error('x'));
    await until(() => thread.respawns === 1, 'a restart');
    assert.equal(supervisor.restartsOf(thread), 1);
    assert.deepEqual(fatal, []);
  });

  it('waits twice as long before each further restart, up to the maximum', async () => {
    supervise({ restartDelayMs: 1, restartDelayMaxMs: 6 });
    const thread = new FakeThread();
    supervisor.watch(thread);
    for (let i = 1; i <= 5; i++) {
      supervisor.died(thread, new Error('x'));
      await until(() => thread.respawns === i, `restart ${i}`);
    }
    const delays = logger.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields['delayMs']);
    assert.deepEqual(delays, [1, 2, 4, 6, 6]);
  });

  it('takes a restart that fails for another death, and gives up in the end', async () => {
    supervise({ restartsMax: 3 });
    const thread = new FakeThread();
    thread.failures = 10;
    supervisor.watch(thread);
    supervisor.died(thread, new Error('first'));
    await until(() => fatal.length === 1, 'the fatal error');
    assert.equal(thread.respawns, 3);
    assert.match(
      fatal[0]?.message ?? '',
      /with services schedule died: no file descriptors left \(after 3 restarts in 60000 ms\)/,
    );
  });

  it('forgets restarts that lie further back than the window', async () => {
    supervise({ restartsMax: 2, restartWindowMs: 1000 });
    const thread = new FakeThread();
    supervisor.watch(thread);
    for (let i = 1; i <= 6; i++) {
      supervisor.died(thread, new Error('x'));
      await until(() => thread.respawns === i, `restart ${i}`);
      clock.advance(600);
    }
    assert.deepEqual(fatal, []);
  });

  it('ends the process once, with the exit code for a dead worker', () => {
    supervise();
    const thread = new FakeThread('fatal');
    supervisor.watch(thread);
    supervisor.died(thread, new Error('disk gone'));
    supervisor.died(thread, new Error('again'));
    assert.deepEqual(
      fatal.map(({ code, exitCode, message }) => [code, exitCode, message]),
      [['WORKER_DIED', 70, "thread 'reput' with services schedule died: disk gone"]],
    );
    assert.equal(thread.respawns, 0);
  });

  it('does nothing for what it no longer watches', async () => {
    supervise();
    const [gone, kept] = [new FakeThread(), new FakeThread()];
    supervisor.watch(gone);
    supervisor.watch(kept);
    supervisor.died(gone, new Error('x'));
    supervisor.unwatch(gone);
    supervisor.died(gone, new Error('x'));
    supervisor.died(kept, new Error('x'));
    await until(() => kept.respawns === 1, 'the other restart');
    assert.equal(gone.respawns, 0);
  });
});
