import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

const loggerUrl = new URL('../../../kernel/threads/worker-logger.js', import.meta.url).href;
const clockUrl = new URL('../../../kernel/base/logger.js', import.meta.url).href;

/** Standard error of a process that ran `code` with both loggers at hand. */
function linesOf(code: string): Record<string, unknown>[] {
  const program = `
    import { createWorkerLogger } from ${JSON.stringify(loggerUrl)};
    import { createLogger } from ${JSON.stringify(clockUrl)};
    const clock = { wallMs: () => 1700000000000, monoMs: () => 0 };
    ${code}`;
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('worker logger', () => {
  it('writes the lines that the kernel’s logger writes', () => {
    const log = `.child({ service: 'flush' }).warn({ from: 1, dir: 'a"b' }, 'a sync took long');`;
    const [ours, kernels] = linesOf(
      `createWorkerLogger('info', { name: 'writers' }, clock)${log} createLogger('info', 'writers')${log}`,
    );
    assert.equal(ours?.['time'], 1_700_000_000_000);
    assert.deepEqual({ ...ours, time: 0 }, { ...kernels, time: 0 });
  });

  it('leaves out what lies below its level', () => {
    const lines = linesOf(`
      const logger = createWorkerLogger('warn', {}, clock);
      logger.debug({}, 'd'); logger.info({}, 'i'); logger.warn({}, 'w'); logger.error({}, 'e');
      createWorkerLogger('silent', {}, clock).error({}, 'nothing');`);
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['w', 'e'],
    );
  });

  it('writes big integers and errors, which JSON cannot', () => {
    const [line] = linesOf(
      `createWorkerLogger('info', {}, clock).info({ offset: 2n ** 60n, error: new TypeError('x') }, 'm');`,
    );
    assert.equal(line?.['offset'], '1152921504606846976');
    assert.deepEqual(Object.keys(line?.['error'] as object), ['type', 'message', 'stack']);
  });
});
