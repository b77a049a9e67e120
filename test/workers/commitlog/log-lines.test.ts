import assert from 'node:assert/strict';
import { SlotStatus } from '../../../kernel/ring/slots.js';
import { LogServices } from '../../support/log-services.js';
import { LossyFiles } from '../../support/lossy-files.js';

describe('appender on a disk that stays full', () => {
  it('refuses every batch and says so once a second', () => {
    const disk = new LossyFiles();
    const store = new LogServices({ files: disk });
    const appender = store.appender();
    disk.fail({ operation: 'create', code: 'ENOSPC', forever: true });
    for (let second = 0; second < 3; second++) {
      for (let i = 0; i < 10; i++) {
        store.put({});
        assert.deepEqual(
          store.append(appender).map(({ status }) => status),
          [SlotStatus.noSpace],
        );
      }
      store.clock.advance(1000);
    }
    assert.equal(store.logger.lines.length, 3);
    store.close();
  });
});
