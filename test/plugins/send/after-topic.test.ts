import assert from 'node:assert/strict';
import type { AppendStatus, PendingAppend } from '../../../plugins/commitlog/contract.js';
import { afterTopic } from '../../../plugins/send/after-topic.js';
import { until } from '../../support/until.js';

function recorder(): PendingAppend & { readonly settled: AppendStatus[] } {
  const settled: AppendStatus[] = [];
  return { waitStore: true, settled, appended: () => undefined, settle: (status) => void settled.push(status) };
}

describe('plugins/send: the answer to the first send to a new topic', () => {
  it('waits for the file of topics', async () => {
    const pending = recorder();
    let save = (): void => undefined;
    const saved = new Promise<void>((resolve) => (save = resolve));
    const waiting = afterTopic(pending, saved);
    assert.equal(waiting.waitStore, true);
    waiting.settle('stored', '');
    await Promise.resolve();
    assert.deepEqual(pending.settled, []);
    save();
    await until(() => pending.settled.length > 0, 'it is settled');
    assert.deepEqual(pending.settled, ['stored']);
  });

  it('is not that all is well when the file could not be written', async () => {
    const pending = recorder();
    afterTopic(pending, Promise.reject(new Error('disk full'))).settle('stored', '');
    await until(() => pending.settled.length > 0, 'it is settled');
    assert.deepEqual(pending.settled, ['flushFailed']);
  });

  it('does not wait when the message was refused, or the topic is in its file', () => {
    const pending = recorder();
    afterTopic(pending, new Promise(() => undefined)).settle('noSpace', '');
    assert.equal(afterTopic(pending, undefined), pending);
    assert.deepEqual(pending.settled, ['noSpace']);
  });
});
