import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { BarProgress, commandProgress, StreamProgress } from '../../cli/progress-bar.js';
import { FakeClock } from '../support/fake-clock.js';

const MIB = 1024 * 1024;

function terminal(isTTY: boolean): { readonly stream: PassThrough & { isTTY: boolean }; readonly text: () => string } {
  let text = '';
  const stream = Object.assign(new PassThrough(), { isTTY });
  stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return { stream, text: () => text };
}

describe('progress of a command', () => {
  it('is a bar on a terminal, with rate and time left, gone at the end', () => {
    const clock = new FakeClock();
    const { stream, text } = terminal(true);
    const progress = commandProgress(clock, stream);
    assert.ok(progress instanceof BarProgress);
    progress.report('reading', 0, 100 * MIB);
    clock.advance(100);
    progress.report('reading', MIB, 100 * MIB);
    assert.equal(text(), '', 'what takes less needs no bar');
    clock.advance(900);
    progress.report('reading', 20 * MIB, 100 * MIB);
    progress.end('reading');
    assert.match(text(), /reading \[=+-+\] 20 % \| 20 MiB\/s \| 4 s left/);
    progress.end('reading');
  });

  it('is a line a second elsewhere', () => {
    const clock = new FakeClock();
    const { stream, text } = terminal(false);
    const progress = commandProgress(clock, stream);
    assert.ok(progress instanceof StreamProgress);
    for (let tenth = 0; tenth <= 25; tenth += 1) {
      progress.report('reading', tenth * MIB, 50 * MIB);
      clock.advance(100);
    }
    progress.end('reading');
    assert.equal(text(), 'reading: 10 of 50 MiB, 10 MiB/s, 4 s left\nreading: 20 of 50 MiB, 10 MiB/s, 3 s left\n');
  });
});
