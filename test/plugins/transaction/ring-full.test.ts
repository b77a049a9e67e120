import assert from 'node:assert/strict';
import { AppendGate, MessageWriter } from '../../../plugins/commitlog/contract.js';
import { RequestCode } from '../../../protocol/codes.js';
import { newMessage } from '../../support/records.js';
import type { RawClient } from '../../support/raw-client.js';
import { pullAll } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { COMMIT, endExt, ended, halfOf, ROLLBACK, sendHalf, stored, type Half } from '../../support/transactions.js';

/** The smallest ring there is. */
const TINY = { ringSlots: 64, ringBytes: 65_536 * 4, maxMessageSize: 1000 };

function writeEnds(client: RawClient, halves: readonly Half[], type: (i: number) => number = () => COMMIT) {
  const prepared = halves.map((half, i) => client.prepare(RequestCode.END_TRANSACTION, { ext: endExt(half, type(i)) }));
  client.write(Buffer.concat(prepared.map(({ frame }) => frame)));
  return Promise.all(prepared.map(({ answer }) => answer));
}

async function sendHalves(client: RawClient, count: number): Promise<Half[]> {
  return (
    await Promise.all(Array.from({ length: count }, (_, i) => sendHalf(client, { body: Buffer.from(`m${i}`) })))
  ).map(halfOf);
}

/** The ring takes nothing until the returned function is called. */
function closeRing(broker: TestBroker): () => Promise<void> {
  const gate = broker.get(AppendGate);
  const reserve = gate.reserve.bind(gate);
  Object.assign(gate, { reserve: () => -1 });
  return async () => {
    Object.assign(gate, { reserve });
    assert.equal((await broker.get(MessageWriter).append(newMessage({ topic: 'Other' }))).status, 'stored');
  };
}

describe('ends of transactions that find the ring full', () => {
  it('wait and are stored in their order: more of them at once than the ring has slots', async () => {
    await using broker = await testBroker({ options: TINY });
    using client = await broker.connect();
    const halves = await sendHalves(client, 500);
    const answers = await writeEnds(client, halves, (i) => (i % 5 === 4 ? ROLLBACK : COMMIT));
    assert.ok(answers.every(({ code }) => code === 0));
    assert.deepEqual(
      (await pullAll(client, 400)).map(({ body }) => body.toString()),
      halves.map((_, i) => `m${i}`).filter((_, i) => i % 5 !== 4),
    );
    assert.deepEqual(
      (await ended(broker)).sort((a, b) => a - b),
      halves.map((_, i) => i),
    );
  });

  it('beyond pendingSendsMax are answered 2, naming it; those that wait are taken when there is room', async () => {
    await using broker = await testBroker({ options: { ...TINY, pendingSendsMax: 3 } });
    using client = await broker.connect();
    const halves = [...(await sendHalves(client, 3)), ...(await sendHalves(client, 3))];
    const open = closeRing(broker);
    const answers = writeEnds(client, halves);
    // An answer to the last one says that all were looked at.
    const probe = await client.ask(RequestCode.END_TRANSACTION, { ext: endExt(halves[0], 0) });
    assert.equal(probe.code, 2, 'it waits behind the others, or would');
    await open();
    const codes = (await answers).map(({ code }) => code);
    assert.deepEqual(codes, [0, 0, 0, 2, 2, 2]);
    assert.match(String(probe.remark), /pendingSendsMax/);
    assert.equal((await stored(broker, 'T')).length, 3);
    assert.deepEqual(await ended(broker), [0, 1, 2]);
  });
});
