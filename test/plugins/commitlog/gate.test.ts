import assert from 'node:assert/strict';
import { dedicated } from '../../../config/topologies/dedicated.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { AppendGate, type PendingAppend, StoreState } from '../../../plugins/commitlog/contract.js';
import { LossyFiles } from '../../support/lossy-files.js';
import { pullAll, send, sendAsk } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

/** A thousand sends from eight connections, pipelined; returns their codes. */
async function thousand(broker: TestBroker): Promise<number[]> {
  const codes: number[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      using client = await broker.connect();
      const asked = Array.from({ length: 125 }, () => {
        const { code, ask } = sendAsk();
        return client.prepare(code, ask);
      });
      client.write(Buffer.concat(asked.map(({ frame }) => frame)));
      for (const { answer } of asked) codes.push((await answer).code);
    }),
  );
  return codes;
}

describe('append gate', () => {
  it('B05 refuses exactly what one failed write took with it; a thousand behind it are stored', async () => {
    const disk = new LossyFiles();
    await using broker = await testBroker({ files: disk, options: { mappedFileSizeCommitLog: 1 << 20 } });
    using client = await broker.connect();
    await send(client);
    const { watermarks } = broker.get(StoreState);
    const end = watermarks.get(Watermark.appended);
    disk.fail({ operation: 'write', path: 'commitlog', code: 'ENOSPC' });
    const refused = await send(client);
    assert.equal(refused.code, 14);
    assert.match(String(refused.remark), /is full/);
    assert.equal(watermarks.get(Watermark.appended), end);
    assert.deepEqual(
      (await thousand(broker)).filter((code) => code !== 0),
      [],
    );
    const stored = await pullAll(client, 1001);
    assert.ok(
      stored.every(({ queueOffset }, i) => queueOffset === i),
      'no offset is burned',
    );
    assert.equal(broker.get(AppendGate).waiting, 0, 'no slot is lost');
  });

  it('B05 refuses exactly the send whose hand-over throws; a thousand behind it are stored', async () => {
    await using broker = await testBroker();
    using client = await broker.connect();
    await send(client);
    const gate = broker.get(AppendGate);
    const commit = gate.commit.bind(gate);
    let calls = 0;
    const failing: typeof commit = (...unit) => {
      if (++calls === 3) throw new Error('no room for one more queue');
      commit(...unit);
    };
    Object.assign(gate, { commit: failing });
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(client)));
    Object.assign(gate, { commit });
    assert.deepEqual(
      answers.map(({ code, remark }) => [code, remark]),
      [0, 0, 1, 0, 0, 0].map((code) => [code, code === 0 ? null : 'no room for one more queue']),
    );
    assert.ok((await thousand(broker)).every((code) => code === 0));
    assert.equal((await pullAll(client, 1006)).length, 1006);
    assert.equal(gate.waiting, 0);
  });

  for (const step of ['encoding', 'writing'] as const)
    it(`B05 refuses exactly the send whose ${step} goes wrong; a thousand behind it are stored`, async () => {
      await using broker = await testBroker();
      using client = await broker.connect();
      await send(client);
      const gate = broker.get(AppendGate);
      const { reserve, commit } = gate;
      let calls = 0;
      const spoiled = step === 'encoding' ? { reserve: failing } : { commit: spoiling };
      function failing(size: number): number {
        if (++calls === 3) throw new Error('the encoder broke down');
        return reserve.call(gate, size);
      }
      // The writer finds a record that is larger than its place.
      function spoiling(size: number, ...rest: [string, number, number, PendingAppend]): void {
        if (++calls === 3) gate.view.setInt32(start, size + 1);
        commit.call(gate, size, ...rest);
      }
      let start = 0;
      const noting = (size: number): number => (start = reserve.call(gate, size));
      Object.assign(gate, step === 'writing' ? { reserve: noting } : {}, spoiled);
      const answers = await Promise.all(Array.from({ length: 6 }, () => send(client)));
      Object.assign(gate, { reserve, commit });
      assert.deepEqual(
        answers.map(({ code }) => code),
        [0, 0, step === 'encoding' ? 1 : 14, 0, 0, 0],
      );
      assert.match(String(answers[2].remark), step === 'encoding' ? /the encoder broke down/ : /a write to .* failed/);
      assert.ok((await thousand(broker)).every((code) => code === 0));
      const stored = await pullAll(client, 1006);
      assert.ok(stored.every(({ queueOffset }, i) => queueOffset === i));
      assert.equal(gate.waiting, 0);
    });

  it('says when all that was handed over is settled', async () => {
    await using broker = await testBroker();
    using client = await broker.connect();
    const gate = broker.get(AppendGate);
    await gate.drained();
    const sent = Array.from({ length: 20 }, () => send(client));
    await until(
      () => gate.waiting === 0 && broker.get(StoreState).watermarks.get(Watermark.appended) > 0,
      'something is stored',
    );
    await gate.drained();
    assert.ok((await Promise.all(sent)).every(({ code }) => code === 0));
  });

  for (const flushDiskType of ['ASYNC_FLUSH', 'SYNC_FLUSH'] as const)
    it(`works the same with writer, flusher and dispatcher on threads of their own (${flushDiskType})`, async () => {
      using dir = tempDir();
      const options = { storePathRootDir: dir.path, mappedFileSizeCommitLog: 1 << 18, flushDiskType };
      await using broker = await testBroker({ options, topology: dedicated });
      using client = await broker.connect();
      assert.ok((await thousand(broker)).every((code) => code === 0));
      const { watermarks } = broker.get(StoreState);
      if (flushDiskType === 'SYNC_FLUSH')
        assert.equal(watermarks.get(Watermark.flushed), watermarks.get(Watermark.appended));
      const stored = await pullAll(client, 1000);
      assert.ok(stored.every(({ queueOffset }, i) => queueOffset === i));
      await until(
        () => watermarks.get(Watermark.dispatched) === watermarks.get(Watermark.appended),
        'all is dispatched',
      );
    });
});
