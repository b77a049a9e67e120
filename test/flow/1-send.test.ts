import assert from 'node:assert/strict';
import { Watermark } from '../../kernel/ring/watermarks.js';
import { StoreState } from '../../plugins/commitlog/contract.js';
import { RequestCode } from '../../protocol/codes.js';
import { encodeRequest, Serialize } from '../../protocol/command.js';
import { encodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { decodeRecord } from '../../protocol/message/record.js';
import type { RawClient } from '../support/raw-client.js';
import { send } from '../support/send-pull.js';
import { testBroker, type TestBroker } from '../support/test-broker.js';

/**
 * The tour, first part: a message travels from a socket into the log.
 *
 *   client frame → plugins/remoting (frames) → plugins/send (checks, encodes) → kernel/ring (hand-off)
 *                → workers/commitlog (stamps, writes) → back through the ring → plugins/send (answers)
 *
 * Next: 2-commitlog looks at what was written.
 */
describe('flow 1: a message is sent', () => {
  let broker: TestBroker;
  let client: RawClient;

  before(async () => {
    broker = await testBroker();
    client = await broker.connect();
  });

  after(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  it('begins as a frame: a header with the fields of the message, and its body', async () => {
    const ext = encodeSendMessageV2({
      producerGroup: 'PG',
      topic: 'Orders',
      // A topic that is not there yet is made after this template.
      defaultTopic: 'TBW102',
      defaultTopicQueueNums: 4,
      queueId: 2,
      sysFlag: 0,
      bornTimestamp: 1_700_000_000_000,
      flag: 7,
      properties: 'TAGS\u0001new\u0002KEYS\u0001order-1',
      unitMode: false,
      batch: false,
    });
    const body = Buffer.from('two apples');
    const frame = encodeRequest({
      code: RequestCode.SEND_MESSAGE_V2,
      opaque: 1,
      ext,
      body,
      serialize: Serialize.JSON,
    });
    // Length of what follows, header form and header length, header, body.
    assert.equal(frame.readInt32BE(0), frame.length - 4);
    assert.equal(frame.readUInt32BE(4) >>> 24, Serialize.JSON);
    assert.deepEqual(frame.subarray(-body.length), body);

    const answer = await client.ask(RequestCode.SEND_MESSAGE_V2, { ext, body });
    assert.equal(answer.code, 0);
    assert.equal(answer.ext['queueId'], '2');
    assert.equal(answer.ext['queueOffset'], '0', 'the first message of its queue');
  });

  it('is answered with its place in the log', async () => {
    const { header } = await send(client, { topic: 'Orders', queueId: 2, body: Buffer.from('three pears') });
    assert.equal(header.queueOffset, 1);
    // The message id is the store's address and the physical offset, in hex.
    const id = Buffer.from(header.msgId, 'hex');
    assert.deepEqual([...id.subarray(0, 4)], [127, 0, 0, 1]);
    assert.equal(id.readInt32BE(4), broker.port);
    const offset = Number(id.readBigInt64BE(8));

    const { body } = await client.ask(RequestCode.VIEW_MESSAGE_BY_ID, { ext: { offset: String(offset) } });
    const stored = decodeRecord(body, 0);
    assert.equal(stored.physicalOffset, offset);
    assert.equal(stored.body.toString(), 'three pears');
    assert.equal(stored.bornHost, `127.0.0.1:${client.localPort}`, 'where it came from');
  });

  it('has gone through the ring and freed its slot when the answer is there', async () => {
    const { watermarks } = broker.get(StoreState);
    const before = watermarks.get(Watermark.appended);
    await send(client, { topic: 'Orders' });
    assert.ok(watermarks.get(Watermark.appended) > before);
  });

  it('is refused before it reaches the ring when something is wrong with it', async () => {
    const { watermarks } = broker.get(StoreState);
    const before = watermarks.get(Watermark.appended);
    const { code, remark } = await send(client, { topic: 'not a name' });
    assert.equal(code, 1);
    assert.match(String(remark), /illegal characters/);
    assert.equal(watermarks.get(Watermark.appended), before);
  });
});
