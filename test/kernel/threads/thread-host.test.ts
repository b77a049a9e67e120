import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { systemClock } from '../../../kernel/base/clock.js';
import { Doorbell } from '../../../kernel/ring/wait.js';
import { callsOf, type Topology } from '../../../kernel/threads/contract.js';
import { probeMemory, Word, type ProbeBoot, type ProbeCalls } from '../../support/probe-service.js';
import { breakSteps, testThreads } from '../../support/threads.js';
import { until } from '../../support/until.js';

const probeUrl = new URL('../../support/probe-service.js', import.meta.url);
const failingUrl = new URL('../../support/failing-service.js', import.meta.url);

describe('threads', () => {
  it('shares one thread between the services of a group, added one after the other', async () => {
    const { host } = testThreads({ commitlog: 'writers', flush: 'writers', reput: 'own', '*': 'main' });
    const memory = ['commitlog', 'flush', 'reput', 'schedule'].map((name) => ({ name, ...probeMemory() }));
    for (const { name, boot } of memory) await host.run<ProbeBoot>(name, probeUrl, boot);
    assert.deepEqual(
      host.status().map(({ name, services, inProcess }) => [name, services, inProcess]),
      [
        ['writers', ['commitlog', 'flush'], false],
        ['reput', ['reput'], false],
        ['schedule', ['schedule'], true],
      ],
    );
    await host.stop();
    for (const { name, words } of memory) assert.equal(Atomics.load(words, Word.closed), 1, name);
  });

  it('gives a service that watches the others a thread of its own in every topology', async () => {
    const { host } = testThreads({ '*': 'main' });
    await host.run<ProbeBoot>('reput', probeUrl, probeMemory().boot);
    await host.run<ProbeBoot>('watchdog', probeUrl, probeMemory().boot, { apart: true });
    assert.deepEqual(
      host.status().map(({ name, inProcess }) => [name, inProcess]),
      [
        ['watchdog', false],
        ['reput', true],
      ],
    );
    await host.stop();
  });

  it('tells the Linux id of every thread, and how often each was woken', async () => {
    const { host } = testThreads({ commitlog: 'writers', flush: 'writers', reput: 'own', '*': 'main' });
    const boots = ['commitlog', 'flush', 'reput', 'schedule'].map((name) => ({ name, ...probeMemory() }));
    for (const { name, boot } of boots) await host.run<ProbeBoot>(name, probeUrl, boot);
    const before = host.figures();
    assert.deepEqual(
      before.map(({ name }) => name),
      ['main', 'writers', 'reput'],
    );
    if (existsSync('/proc/thread-self')) {
      const ids = before.map(({ linuxId }) => linuxId);
      assert.equal(ids[0], process.pid, 'tests run on the main thread');
      assert.equal(new Set(ids).size, 3);
      for (const id of ids) assert.ok(existsSync(`/proc/self/task/${id}`), `${id} is a thread of this process`);
    }
    const wakeUps = (name: string): number => host.figures().find((thread) => thread.name === name)!.wakeUps;
    const reput = Doorbell.at(host.bellOf('reput'));
    await until(() => {
      reput.ring();
      return wakeUps('reput') > before[2]!.wakeUps + 2;
    }, 'reput was woken');
    await host.stop();
  });

  it('keeps a shared thread for those that stay when one leaves or fails to start', async () => {
    const { host, fatal } = testThreads({ a: 'group', b: 'group', c: 'group' });
    const a = await host.run<ProbeBoot>('a', probeUrl, probeMemory().boot);
    const b = await host.run<ProbeBoot>('b', probeUrl, probeMemory().boot);
    await assert.rejects(host.run('c', failingUrl, { how: 'throw' }), /service 'c'/);
    await a.stop();
    assert.equal(await callsOf<ProbeCalls>(b).add(1, 2), 3);
    assert.deepEqual(host.status()[0]?.services, ['b']);
    await b.stop();
    assert.deepEqual(host.status(), []);
    assert.deepEqual(fatal, []);
    await host.stop();
  });

  it('restarts every service of a shared thread when one of them breaks', async () => {
    const { host, fatal } = testThreads({ a: 'group', b: 'group' });
    const [one, two] = [probeMemory(), probeMemory()];
    const a = await host.run<ProbeBoot>('a', probeUrl, one.boot, { onDeath: 'restart' });
    const b = await host.run<ProbeBoot>('b', probeUrl, two.boot, { onDeath: 'restart' });
    await breakSteps(a);
    a.kick();
    await until(
      () => Atomics.load(one.words, Word.made) === 2 && Atomics.load(two.words, Word.made) === 2,
      'both made again',
    );
    await until(
      () =>
        callsOf<ProbeCalls>(b)
          .add(1, 2)
          .then(
            (sum) => sum === 3,
            () => false,
          ),
      'b answers',
    );
    assert.deepEqual(fatal, []);
    await host.stop();
  });

  it('ends the process for a shared thread of which one service is fatal', async () => {
    const { host, fatal } = testThreads({ a: 'group', b: 'group' });
    const a = await host.run<ProbeBoot>('a', probeUrl, probeMemory().boot, { onDeath: 'restart' });
    await host.run<ProbeBoot>('b', probeUrl, probeMemory().boot, { onDeath: 'fatal' });
    await breakSteps(a);
    a.kick();
    await until(() => fatal.length === 1, 'the fatal error');
    assert.match(fatal[0]?.message ?? '', /thread 'group' with services a, b died: service 'a' failed in step/);
    await host.stop();
  });

  it('is fatal within 2 s when a worker is terminated from outside', async () => {
    const { host, fatal } = testThreads({});
    const probe = await host.run<ProbeBoot>('commitlog', probeUrl, probeMemory().boot);
    const inFlight = assert.rejects(callsOf<ProbeCalls>(probe).never(), { code: 'WORKER_DIED' });
    const start = systemClock.monoMs();
    host.terminate('commitlog');
    await until(() => fatal.length === 1, 'the fatal error');
    assert.ok(systemClock.monoMs() - start < 2000);
    assert.equal(fatal[0]?.exitCode, 70);
    await inFlight;
    await host.stop();
  });

  it('gives up on a service that dies again and again, naming the last cause', async () => {
    const { host, fatal, lines } = testThreads({ reput: 'own' }, { restartsMax: 2 });
    const { boot, words } = probeMemory();
    const probe = await host.run<ProbeBoot>('reput', probeUrl, boot, { onDeath: 'restart' });
    await until(async () => {
      await breakSteps(probe);
      probe.kick();
      return fatal.length > 0;
    }, 'the fatal error');
    assert.match(fatal[0]?.message ?? '', /probe broke \(after 2 restarts in 60000 ms\)/);
    assert.equal(Atomics.load(words, Word.made), 3);
    assert.equal(lines.filter(({ level }) => level === 'warn').length, 2);
    await host.stop();
  });

  it('names a service whose thread ends while it starts, and one that is not ready in time', async () => {
    const ordinary = testThreads({});
    const impatient = testThreads({}, { readyTimeoutMs: 150 });
    await assert.rejects(ordinary.host.run('probe', failingUrl, { how: 'exit' }), {
      code: 'WORKER_DIED',
      message: /'probe'.*ended with code 7/,
    });
    await assert.rejects(impatient.host.run('slow', failingUrl, { how: 'block' }), {
      code: 'SERVICE_NOT_READY',
      message: /'slow'.*failing-service\.js.*150 ms/,
    });
    for (const { host, fatal } of [ordinary, impatient]) {
      assert.deepEqual(fatal, []);
      assert.deepEqual(host.status(), []);
      await host.stop();
    }
  });

  it('names a service whose boot cannot be cloned', async () => {
    const { host } = testThreads({});
    await assert.rejects(host.run('probe', probeUrl, { files: () => undefined }), {
      code: 'SERVICE_FAILED',
      message: /service 'probe' cannot be given its boot: .*could not be cloned/,
    });
    assert.deepEqual(host.status(), []);
    await host.stop();
  });

  it('kills the process when a thread hangs, naming it', async () => {
    const threads = testThreads({}, { hangTimeoutMs: 200, stopTimeoutMs: 50 });
    const { boot, words } = probeMemory();
    const probe = await threads.host.run<ProbeBoot>('flush', probeUrl, boot);
    assert.deepEqual(threads.host.stuck(), []);
    await callsOf<ProbeCalls>(probe).hang();
    await until(() => threads.kills() > 0, 'the kill');
    const line = threads.lines.find(({ level }) => level === 'error');
    assert.match(line?.message ?? '', /thread 'flush' hangs/);
    await until(() => threads.host.stuck().length === 1, 'the thread is called stuck');
    Atomics.store(words, Word.gate, 1);
    Atomics.notify(words, Word.gate);
    await threads.host.stop();
  });

  it('does not call a sleeping thread hung', async () => {
    const threads = testThreads({}, { hangTimeoutMs: 1200 });
    const { boot, words } = probeMemory();
    await threads.host.run<ProbeBoot>('flush', probeUrl, { ...boot, idleMs: 60_000 });
    await until(() => Atomics.load(words, Word.steps) >= 8, 'four sleeps up to the ceiling');
    assert.equal(threads.kills(), 0);
    await threads.host.stop();
  });

  for (const [from, to] of [
    ['own', 'own'],
    ['own', 'main'],
    ['main', 'own'],
    ['main', 'main'],
  ] as const) {
    it(`lets a service (${from}) wake another (${to}) that runs later`, async () => {
      const { host } = testThreads({ first: from, second: to });
      const [one, two] = [probeMemory(), probeMemory()];
      const first = await host.run<ProbeBoot>('first', probeUrl, { ...one.boot, follower: host.bellOf('second') });
      await host.run<ProbeBoot>('second', probeUrl, two.boot);
      await until(() => Atomics.load(two.words, Word.steps) > 0, 'first step of the second');
      const start = systemClock.monoMs();
      for (let round = 1; round <= 10; round++) {
        Atomics.store(two.words, Word.todo, 1);
        Atomics.store(one.words, Word.todo, 1);
        first.kick();
        await until(() => Atomics.load(two.words, Word.done) === round, `the second was woken, round ${round}`);
      }
      assert.ok(systemClock.monoMs() - start < 2500, 'ten rounds, each far below the ceiling');
      await host.stop();
    });
  }

  it('refuses names and topologies that cannot be', async () => {
    const bad: [unknown, RegExp][] = [
      [[], /not an object/],
      [{ Commitlog: 'own' }, /'Commitlog' cannot be a service/],
      [{ main: 'own' }, /'main' cannot be a service/],
      [{ commitlog: 'my group' }, /'commitlog' has the place "my group"/],
      [{ commitlog: 7 }, /'commitlog' has the place 7/],
      [{ commitlog: 'own', flush: 'commitlog' }, /group 'commitlog' of 'flush'/],
    ];
    for (const [topology, message] of bad)
      assert.throws(() => testThreads(topology as Topology), { code: 'TOPOLOGY_INVALID', message });
    const { host } = testThreads({ commitlog: 'commitlog', flush: 'commitlog' });
    assert.throws(() => host.bellOf('../x'), { code: 'TOPOLOGY_INVALID' });
    await assert.rejects(host.run('own', probeUrl, {}), { code: 'TOPOLOGY_INVALID' });
    await assert.rejects(host.run('ts', new URL('file:///x/entry.ts'), {}), /not a compiled file/);
    await host.stop();
  });

  it('treats names of object properties as names', async () => {
    const { host } = testThreads({ '*': 'main' });
    assert.equal(host.inProcess('constructor'), true);
    await host.stop();
  });
});
