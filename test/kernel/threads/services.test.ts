import assert from 'node:assert/strict';
import { systemClock } from '../../../kernel/base/clock.js';
import { KernelError } from '../../../kernel/base/errors.js';
import { Doorbell } from '../../../kernel/ring/wait.js';
import { callsOf, type Topology } from '../../../kernel/threads/contract.js';
import type { RunningService } from '../../../kernel/threads/service.js';
import { probeMemory, Word, type ProbeBoot, type ProbeCalls } from '../../support/probe-service.js';
import { breakSteps, testThreads, type TestThreads } from '../../support/threads.js';
import { until } from '../../support/until.js';

const probeUrl = new URL('../../support/probe-service.js', import.meta.url);
const failingUrl = new URL('../../support/failing-service.js', import.meta.url);

const places: [string, Topology][] = [
  ['on a thread of its own', { probe: 'own' }],
  ['on a shared thread', { probe: 'group', other: 'group' }],
  ['in-process', { probe: 'main' }],
];

for (const [place, topology] of places) {
  describe(`a service ${place}`, () => {
    let threads: TestThreads;
    let words: Int32Array;
    let boot: ProbeBoot;

    beforeEach(() => {
      threads = testThreads(topology);
      ({ boot, words } = probeMemory());
    });
    afterEach(() => threads.host.stop());

    const run = (more: Partial<ProbeBoot> = {}): Promise<RunningService> =>
      threads.host.run<ProbeBoot>('probe', probeUrl, { ...boot, ...more });
    const word = (index: number): number => Atomics.load(words, index);

    it('is made when run resolves, and says where it is', async () => {
      const probe = await run();
      assert.equal(word(Word.made), 1);
      assert.equal(probe.name, 'probe');
      assert.equal(probe.inProcess, topology['probe'] === 'main');
      assert.equal(threads.host.inProcess('probe'), probe.inProcess);
    });

    /** Ten wake-ups in a time in which a sleeper that is not woken would see few: it sleeps up to the ceiling each time. */
    const promptly = async (wake: () => void): Promise<void> => {
      await until(() => word(Word.steps) > 0, 'first step');
      const start = systemClock.monoMs();
      for (let round = 1; round <= 10; round++) {
        Atomics.store(words, Word.todo, 5);
        wake();
        await until(() => word(Word.done) === 5 * round, `work of round ${round}`);
      }
      const tookMs = systemClock.monoMs() - start;
      assert.ok(tookMs < 2500, `ten rounds took ${tookMs} ms`);
    };

    it('does all the work after one ring', async () => {
      const probe = await run();
      await promptly(() => probe.bell.ring());
    });

    it('does all the work after one kick; a twin on the caller’s stack', async () => {
      const probe = await run();
      await promptly(() => probe.kick());
      Atomics.store(words, Word.todo, 1);
      const done = word(Word.done);
      probe.kick();
      if (probe.inProcess) assert.equal(word(Word.done), done + 1);
    });

    it('does all the work after one ring of its address, which may be asked for before it runs', async () => {
      const bell = Doorbell.at(threads.host.bellOf('probe'));
      bell.ring();
      await run();
      await promptly(() => bell.ring());
    });

    it('steps again by itself after the time that it named, and at the latest at the ceiling', async () => {
      await run({ idleMs: 5 });
      await until(() => word(Word.steps) >= 20, '20 steps of 5 ms');
      const lazy = probeMemory();
      await threads.host.run<ProbeBoot>('other', probeUrl, { ...lazy.boot, idleMs: Infinity });
      await until(() => Atomics.load(lazy.words, Word.steps) >= 3, 'steps at the ceiling');
    });

    it('answers control calls while it sleeps, far sooner than its ceiling', async () => {
      const calls = callsOf<ProbeCalls>(await run());
      await until(() => word(Word.steps) > 0, 'first step');
      const start = systemClock.monoMs();
      for (let i = 0; i < 10; i++) assert.equal(await calls.add(i, 1), i + 1);
      const tookMs = systemClock.monoMs() - start;
      assert.ok(tookMs < 2500, `10 calls took ${tookMs} ms; asleep until the ceiling they would take 5000`);
    });

    it('answers calls in parallel, and calls that need a later step', async () => {
      const calls = callsOf<ProbeCalls>(await run());
      const answers = await Promise.all([calls.afterNextStep(), calls.add(2, 3), calls.afterNextStep()]);
      assert.deepEqual(answers, ['stepped', 5, 'stepped']);
    });

    it('passes copies of arguments and results', async () => {
      const calls = callsOf<ProbeCalls>(await run());
      const value = { list: [1, 2n, 'three'], map: new Map([['a', new Uint8Array([1, 2])]]) };
      const echo = await calls.echo(value);
      assert.deepEqual(echo, value);
      assert.notEqual(echo, value);
      await assert.rejects(
        calls.echo(() => undefined),
        /could not be cloned/,
      );
    });

    it('rejects with the error of a call: message, name and code', async () => {
      const calls = callsOf<ProbeCalls>(await run());
      await assert.rejects(calls.fail(), { name: 'RangeError', message: 'probe failed', code: 'EPROBE' });
      assert.equal(await calls.add(1, 1), 2);
    });

    it('names a call that does not exist', async () => {
      const calls = callsOf<{ toss(): void }>(await run());
      await assert.rejects(calls.toss(), { code: 'CALL_UNKNOWN', message: /'probe' has no call 'toss'/ });
    });

    it('does what was handed over before the stop, then closes, once', async () => {
      const probe = await run();
      Atomics.store(words, Word.todo, 500);
      await Promise.all([probe.stop(), probe.stop()]);
      assert.equal(word(Word.done), 500);
      assert.equal(word(Word.closed), 1);
      const steps = word(Word.steps);
      probe.bell.ring();
      probe.kick();
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(word(Word.steps), steps);
      await assert.rejects(callsOf<ProbeCalls>(probe).add(1, 2), { code: 'SERVICE_STOPPED' });
    });

    it('rejects calls in flight when it stops', async () => {
      const probe = await run();
      const rejected = assert.rejects(callsOf<ProbeCalls>(probe).never(), KernelError);
      await probe.stop();
      await rejected;
    });

    it('can run again after it stopped, but not twice at once', async () => {
      const probe = await run();
      await assert.rejects(run(), { code: 'SERVICE_DUPLICATE', message: /'probe'/ });
      await probe.stop();
      const again = await run();
      assert.equal(await callsOf<ProbeCalls>(again).add(1, 2), 3);
      assert.equal(word(Word.made), 2);
    });

    for (const [how, message] of [
      ['throw', /service 'probe' \(file:.*failing-service\.js\) failed to start: somebody else has the store/],
      ['nonsense', /service 'probe'.*must return an object with step and close/],
    ] as const) {
      it(`is named with its file when its entry fails to start: ${how}`, async () => {
        const error = await threads.host.run('probe', failingUrl, { how }).then(
          () => assert.fail('it started'),
          (caught: unknown) => caught as KernelError,
        );
        assert.ok(error instanceof KernelError);
        assert.equal(error.code, 'SERVICE_FAILED');
        assert.match(error.message, message);
        if (how === 'throw') {
          assert.equal(error.remedy, 'stop the other broker');
          assert.equal((error.cause as KernelError).code, 'STORE_LOCKED');
        }
        assert.deepEqual(threads.fatal, []);
        await run();
      });
    }

    it('is named when its file is missing or exports nothing', async () => {
      const missing = new URL('./no-such-file.js', import.meta.url);
      await assert.rejects(threads.host.run('probe', missing, {}), {
        code: 'SERVICE_FAILED',
        message: /no-such-file\.js/,
      });
      const plain = new URL('../../support/until.js', import.meta.url);
      await assert.rejects(threads.host.run('probe', plain, {}), { message: /default export is not a function/ });
    });

    it('is restarted with the same boot when a step throws, and answers through the same handle', async () => {
      let restarts = 0;
      const probe = await threads.host.run<ProbeBoot>('probe', probeUrl, boot, {
        onDeath: 'restart',
        onRestart: () => restarts++,
      });
      const calls = callsOf<ProbeCalls>(probe);
      const inFlight = assert.rejects(calls.never(), { code: 'WORKER_DIED', message: /probe.*probe broke/ });
      await breakSteps(probe);
      probe.bell.ring();
      await inFlight;
      await until(() => restarts === 1, 'the restart');
      assert.equal(word(Word.made), 2);
      assert.equal(await calls.add(20, 22), 42);
      Atomics.store(words, Word.todo, 5);
      probe.bell.ring();
      await until(() => word(Word.done) === 5, 'work after the restart');
      assert.equal(threads.host.status()[0]?.restarts, 1);
      assert.deepEqual(threads.fatal, []);
    });

    it('is fatal when a step throws and nothing else was said', async () => {
      const probe = await run();
      await breakSteps(probe);
      probe.bell.ring();
      await until(() => threads.fatal.length > 0, 'the fatal error');
      const [error] = threads.fatal;
      assert.equal(error?.code, 'WORKER_DIED');
      assert.equal(error?.exitCode, 70);
      assert.match(error?.message ?? '', /service 'probe' failed in step: probe broke/);
      assert.equal(threads.fatal.length, 1);
      assert.ok(threads.lines.some(({ level, message }) => level === 'error' && message.includes('probe broke')));
    });

    it('stops though its thread host is stopped first', async () => {
      const probe = await run();
      await threads.host.stop();
      assert.equal(word(Word.closed), 1);
      await probe.stop();
      await assert.rejects(run(), { code: 'SERVICE_STOPPED' });
    });
  });
}
