import assert from 'node:assert/strict';
import { Doorbell } from '../../../kernel/ring/wait.js';
import { WakeLoop } from '../../../kernel/ring/wake-loop.js';
import { until } from '../../support/until.js';

describe('wake loop', () => {
  it('runs its listeners when it is rung', async () => {
    const loop = new WakeLoop(() => assert.fail('no listener fails'));
    let work = 0;
    let done = 0;
    loop.add(
      () => {
        done += work;
        work = 0;
      },
      () => work > 0,
    );
    loop.start();
    for (let i = 1; i <= 20; i++) {
      work = 1;
      Doorbell.at(loop.address).ring();
      await until(() => done === i, `turn ${i}`);
    }
    await loop.stop();
  });

  it('lets the others run, and the event loop, when a listener fails', async () => {
    const errors: unknown[] = [];
    const loop = new WakeLoop((error) => errors.push(error));
    let others = 0;
    loop.add(
      () => {
        throw new Error('broken');
      },
      () => true,
    );
    loop.add(
      () => void others++,
      () => false,
    );
    loop.start();
    await until(() => others >= 2, 'the other listener ran twice');
    assert.ok(errors.length >= 2);
    assert.ok(errors.length < 50, 'it does not spin');
    await loop.stop();
  });

  it('ends when it is stopped, also before it was started', async () => {
    const loop = new WakeLoop(() => undefined);
    await loop.stop();
    const other = new WakeLoop(() => undefined);
    other.start();
    await other.stop();
  });
});
