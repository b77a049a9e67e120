import assert from 'node:assert/strict';
import { LoggedProgress } from '../../../kernel/base/progress.js';
import { FakeClock } from '../../support/fake-clock.js';
import { recordingLogger } from '../../support/recording-logger.js';

describe('LoggedProgress', () => {
  it('logs a line a second, and none for what takes less', () => {
    const clock = new FakeClock();
    const logger = recordingLogger();
    const progress = new LoggedProgress(clock, logger);
    progress.report('short', 0, 10);
    clock.advance(999);
    progress.report('short', 9, 10);
    progress.end('short');
    assert.deepEqual(logger.lines, []);
    for (let tenth = 0; tenth < 25; tenth += 1) {
      progress.report('long', tenth, 40);
      clock.advance(100);
    }
    progress.end('long');
    assert.deepEqual(logger.lines, [
      { level: 'info', fields: { done: 10, total: 40, percent: 25 }, message: 'long' },
      { level: 'info', fields: { done: 20, total: 40, percent: 50 }, message: 'long' },
    ]);
    progress.report('long', 0, 0);
    assert.equal(logger.lines.length, 2, 'a step of the same name begins anew');
  });
});
