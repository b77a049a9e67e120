import assert from 'node:assert/strict';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { ResponseCode } from '../../../protocol/codes.js';
import { queueSpan } from '../../support/old-store.js';
import { pull, pullAll, send, sendAsk } from '../../support/send-pull.js';
import { testBroker } from '../../support/test-broker.js';

const options = {
  memoryStoreBytesMax: 4 << 20,
  mappedFileSizeCommitLog: 1 << 19,
  mappedFileSizeConsumeQueue: 20_000,
};

describe('a memory store that gets short of room', () => {
  it('forgets its oldest messages, and takes new ones for ever', async () => {
    await using broker = await testBroker({ options });
    using client = await broker.connect();
    const body = Buffer.alloc(10_000, 'm');
    const count = 2000;
    for (let sent = 0; sent < count; sent += 50) {
      const asked = Array.from({ length: 50 }, () => {
        const { code, ask } = sendAsk({ body });
        return client.prepare(code, ask);
      });
      client.write(Buffer.concat(asked.map(({ frame }) => frame)));
      for (const { answer } of asked) {
        const { code, remark } = await answer;
        assert.equal(code, 0, `after ${sent}: ${remark}`);
      }
    }
    const [min, max] = await queueSpan(client);
    assert.equal(max, count);
    assert.ok(min > count - (4 << 20) / body.length && min < count - 100, `${min} to ${max} are kept`);
    assert.equal((await pull(client, { queueOffset: 0 })).code, ResponseCode.PULL_OFFSET_MOVED);
    assert.equal((await pullAll(client, max - min, { queueOffset: min })).length, max - min);
    const { files } = broker.get(StoreState);
    assert.ok(files instanceof MemoryFiles && files.bytesUsed <= options.memoryStoreBytesMax);
  });

  it('keeps all while there is room', async () => {
    await using broker = await testBroker({ options });
    using client = await broker.connect();
    for (let i = 0; i < 200; i++) await send(client, { body: Buffer.alloc(10_000) });
    assert.deepEqual(await queueSpan(client), [0, 200]);
  });
});
