import assert from 'node:assert/strict';
import { systemClock } from '../../../kernel/base/clock.js';
import type { Service } from '../../../kernel/threads/service.js';
import { Twin } from '../../../kernel/threads/twin.js';
import { until } from '../../support/until.js';

const LONG_MS = 60_000;

/** Does `todo` units of work, one per step, and rests whenever it is asked. */
class Resting implements Service {
  steps = 0;
  onStep: () => void = () => undefined;

  constructor(
    public todo: number,
    readonly restMs: number,
  ) {}

  step(): number {
    this.steps++;
    this.onStep();
    if (this.todo > 0) this.todo--;
    return this.todo > 0 ? 0 : LONG_MS;
  }

  close(): void {
    // Nothing is held.
  }
}

function twinOf(service: Service): Promise<Twin> {
  return Twin.start({
    name: 'resting',
    clock: systemClock,
    onDeath: 'fatal',
    onRestart: undefined,
    create: () => Promise.resolve(service),
    died: () => assert.fail('it died'),
    stopped: () => undefined,
  });
}

describe('kernel/threads: a service in-process that rests', () => {
  it('does not rest while it has more to do', async () => {
    const service = new Resting(200, LONG_MS);
    const twin = await twinOf(service);
    await until(() => service.todo === 0, 'all work is done');
    await twin.stop();
  });

  it('hears after its rest what rang within it', async () => {
    const service = new Resting(1, 20);
    const twin = await twinOf(service);
    await until(() => service.steps > 0, 'it begins to rest');
    const before = service.steps;
    service.todo = 3;
    twin.bell.ring();
    await until(() => service.todo === 0, 'all work is done');
    assert.ok(service.steps >= before + 3);
    await twin.stop();
  });

  it('hears after its rest what kicked it within its step', async () => {
    const service = new Resting(1, 20);
    const twin = await twinOf(service);
    service.onStep = () => twin.kick();
    await until(() => service.steps > 3, 'it goes on');
    service.onStep = () => undefined;
    await twin.stop();
  });
});
