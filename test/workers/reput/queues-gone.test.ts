import assert from 'node:assert/strict';
import { QueueWord } from '../../../kernel/ring/queue-table.js';
import { isBlankUnit, isRecordUnit } from '../../../store/consumequeue/unit.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import type { Dispatcher } from '../../../workers/reput/dispatcher.js';
import { LogServices, runToRest } from '../../support/log-services.js';

describe('dispatcher and queues of which messages are gone', () => {
  function twelve(): { store: LogServices; dispatcher: Dispatcher; send: () => void; row: number } {
    const store = new LogServices({ files: new MemoryFiles(256 << 20), segmentBytes: 1 << 20 });
    const appender = store.appender();
    const dispatcher = store.dispatcher();
    const send = (): void => {
      store.put({ topic: 'T' });
      store.append(appender);
    };
    for (let i = 0; i < 12; i++) send();
    runToRest(dispatcher);
    return { store, dispatcher, send, row: store.table.find('T', 0) };
  }
  const filesOf = (store: LogServices): string[] => store.log.files.list(`${store.queueDir}/T/0`);

  it('removes files below the minimum, never the last one', async () => {
    const { store, dispatcher, row } = twelve();
    assert.equal(await dispatcher.calls.dropOldFiles('T', 0), 0);
    store.table.set(row, QueueWord.minimum, 9);
    assert.equal(await dispatcher.calls.dropOldFiles('T', 0), 0, 'a unit of the first file is there');
    store.table.set(row, QueueWord.minimum, 12);
    assert.equal(await dispatcher.calls.dropOldFiles('T', 0), 1);
    assert.deepEqual(filesOf(store), ['00000000000000000200']);
    assert.equal(await dispatcher.calls.dropOldFiles('T', 0), 0);
    assert.equal(await dispatcher.calls.dropOldFiles('unknown', 0), 0);
    store.close();
  });

  it('removes all of a queue only when the log has nothing of it, and goes on in its place', async () => {
    const { store, dispatcher, send, row } = twelve();
    store.table.set(row, QueueWord.minimum, 11);
    assert.equal(await dispatcher.calls.dropExpired('T', 0), false, 'one is there');
    store.table.set(row, QueueWord.minimum, 12);
    send();
    assert.equal(await dispatcher.calls.dropExpired('T', 0), false, 'one waits to be dispatched');
    runToRest(dispatcher);
    assert.equal(await dispatcher.calls.dropExpired('T', 0), false, 'one was dispatched');
    store.table.set(row, QueueWord.minimum, 13);
    assert.equal(await dispatcher.calls.dropExpired('T', 0), true);
    assert.deepEqual(store.log.files.list(store.queueDir), []);
    assert.equal(await dispatcher.calls.dropExpired('T', 0), false, 'nothing is left to remove');
    send();
    runToRest(dispatcher);
    assert.deepEqual(filesOf(store), ['00000000000000000200']);
    const units = store.log.files.readAll(`${store.queueDir}/T/0/00000000000000000200`);
    assert.deepEqual([isBlankUnit(units, 40), isRecordUnit(units, 60)], [true, true], 'as 4.9 wants it: blanks before');
    store.close();
  });
});
