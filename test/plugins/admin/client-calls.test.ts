import assert from 'node:assert/strict';
import { KernelError } from '../../../kernel/base/errors.js';
import { ClientCalls } from '../../../plugins/admin/client-calls.js';
import type { LogReader } from '../../../plugins/commitlog/contract.js';
import { Consumers } from '../../../plugins/groups/contract.js';
import type { Connection } from '../../../plugins/remoting/contract.js';
import { encodeHeartbeat } from '../../../protocol/bodies/heartbeat.js';
import { decodeGetConsumerStatusBody, encodeGetConsumerStatusBody } from '../../../protocol/bodies/reset-offset.js';
import { decodeRecord } from '../../../protocol/message/record.js';
import { defaultOptions } from '../../support/default-options.js';
import { FakeConnection, FakeRouter } from '../../support/fake-connection.js';
import type { RawClient } from '../../support/raw-client.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { consumerOf, send, subscriptionTo } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

describe('questions that the broker passes on to consumers', () => {
  let broker: TestBroker;
  let admin: RawClient;
  const members = new Map<string, RawClient>();

  async function join(clientID: string, version = 407): Promise<RawClient> {
    const client = await broker.connect();
    const consumerDataSet = [consumerOf('G', [subscriptionTo('T')])];
    const body = encodeHeartbeat({ clientID, consumerDataSet, producerDataSet: [] });
    assert.equal((await client.ask(34, { body, version })).code, 0);
    members.set(clientID, client);
    return client;
  }

  before(async () => {
    broker = await testBroker();
    admin = await broker.connect();
  });

  afterEach(async () => {
    for (const client of members.values()) client[Symbol.dispose]();
    members.clear();
    await until(() => broker.get(Consumers).group('G') === undefined, 'the group has no member any more');
  });

  after(async () => {
    admin[Symbol.dispose]();
    await broker.stop();
  });

  const runningInfo = (clientId: string, more = {}) =>
    admin.ask(307, { ext: { consumerGroup: 'G', clientId, jstackEnable: 'true', ...more } });

  it('307: code, remark and body of the client come back, and it is asked with the very fields', async () => {
    const client = await join('c1');
    client.respond = () => ({ code: 0, remark: 'here', body: Buffer.from('{"jstack":"x"}') });
    const { code, remark, body } = await runningInfo('c1', { unknown: 'kept' });
    assert.deepEqual([code, remark, body.toString()], [0, 'here', '{"jstack":"x"}']);
    const asked = client.requests.find((request) => request.code === 307);
    assert.deepEqual({ ...asked?.ext }, { consumerGroup: 'G', clientId: 'c1', jstackEnable: 'true', unknown: 'kept' });
    client.respond = () => ({ code: 1, remark: 'The Consumer Group <G> not exist in this consumer' });
    assert.deepEqual((await runningInfo('c1')).code, 1);
  });

  it('307: 1 for a client that is not there or too old', async () => {
    assert.deepEqual((await runningInfo('nobody')).remark, 'The Consumer <G> <nobody> not online');
    await join('old', 61);
    const { code, remark } = await runningInfo('old');
    assert.equal(code, 1);
    assert.match(remark ?? '', /^The Consumer <old> Version <61> too low to finish/);
  });

  it('307: a silent client holds up nobody else, and its end is told', async () => {
    const [silent, awake] = [await join('silent'), await join('awake')];
    awake.respond = () => ({ code: 0, body: Buffer.from('{}') });
    const waiting = runningInfo('silent');
    await until(() => silent.requests.some(({ code }) => code === 307), 'the silent client is asked');
    assert.equal((await runningInfo('awake')).code, 0);
    assert.equal((await admin.ask(28)).code, 0);
    silent.reset();
    const { code, remark } = await waiting;
    assert.equal(code, 1);
    assert.match(remark ?? '', /^invoke consumer <G> <silent> Exception: .* closed the connection$/);
  });

  it('223: what each client says, by client id; one that gives no answer is left out', async () => {
    const queue = { topic: 'T', brokerName: 'broker-a', queueId: 1 };
    for (const [clientId, offset] of [
      ['c1', 5],
      ['c2', 7],
    ] as const) {
      const body = encodeGetConsumerStatusBody({ messageQueueTable: [[queue, offset]], consumerTable: new Map() });
      (await join(clientId)).respond = () => ({ code: 0, body });
    }
    (await join('odd')).respond = () => ({ code: 0, body: Buffer.from('no JSON') });
    const dying = await join('dying');
    dying.respond = () => void dying.reset();
    const ext = { topic: 'T', group: 'G' };
    const all = decodeGetConsumerStatusBody((await admin.ask(223, { ext })).body).consumerTable;
    assert.deepEqual([...all].sort(), [
      ['c1', [[queue, 5]]],
      ['c2', [[queue, 7]]],
    ]);
    const one = await admin.ask(223, { ext: { ...ext, clientAddr: 'c2' } });
    assert.deepEqual([...decodeGetConsumerStatusBody(one.body).consumerTable.keys()], ['c2']);
    assert.deepEqual({ ...members.get('c1')?.requests.find(({ code }) => code === 221)?.ext }, ext);
  });

  it('223: 1 for a group without members and for clients that are too old', async () => {
    const ext = { topic: 'T', group: 'G' };
    const nobody = await admin.ask(223, { ext });
    assert.deepEqual([nobody.code, nobody.remark], [1, 'No Any Consumer online in the consumer group: [G]']);
    await join('old', 27);
    assert.match(
      (await admin.ask(223, { ext })).remark ?? '',
      /^the client does not support this feature\. version=27/,
    );
  });

  it('309: the client gets the stored record and the name of the broker', async () => {
    const client = await join('c1');
    client.respond = () => ({ code: 0, body: Buffer.from('{"consumeResult":"CR_SUCCESS"}') });
    const { header } = await send(admin, { body: Buffer.from('directly') });
    const ext = { consumerGroup: 'G', clientId: 'c1', msgId: header.msgId };
    assert.equal((await admin.ask(309, { ext })).body.toString(), '{"consumeResult":"CR_SUCCESS"}');
    const asked = client.requests.find((request) => request.code === 309) ?? assert.fail();
    assert.deepEqual({ ...asked.ext }, { ...ext, brokerName: 'broker-a' });
    assert.equal(decodeRecord(asked.body, 0).body.toString(), 'directly');
  });

  it('309: 1 for an id that is none, or of no message', async () => {
    const { header } = await send(admin);
    const beyond = `${header.msgId.slice(0, 16)}00000000FFFFFFFF`;
    for (const msgId of ['', 'x', beyond, header.msgId.replace(/.$/, 'F')]) {
      const { code, remark } = await admin.ask(309, { ext: { consumerGroup: 'G', clientId: 'c1', msgId } });
      assert.deepEqual([code, remark], [1, `can not find message by the offset message id, ${msgId}`]);
    }
  });

  it('207 for a client that does not answer in time', async () => {
    class Mute extends FakeConnection {
      limits: number[] = [];
      override call(...[, , , timeoutMs]: Parameters<Connection['call']>): ReturnType<Connection['call']> {
        this.limits.push(timeoutMs);
        return Promise.reject(new KernelError('PEER_TIMEOUT', `it did not answer within ${timeoutMs} ms`));
      }
    }
    const connection = new Mute();
    const channel = { clientId: 'c1', connection, language: 0, version: 407, lastSeenMonoMs: 0 };
    const consumers = { group: () => ({ channels: new Map([['c1', channel]]) }) } as unknown as Consumers;
    const router = new FakeRouter();
    new ClientCalls(defaultOptions(), consumers, {} as LogReader, recordingLogger()).register(router);
    const { code, remark } = await router.call(307, { ext: { consumerGroup: 'G', clientId: 'c1' } });
    assert.deepEqual([code, remark], [207, 'consumer <G> <c1> Timeout: it did not answer within 10000 ms']);
    const status = await router.call(223, { ext: { topic: 'T', group: 'G' } });
    assert.equal(status.code, 0);
    assert.deepEqual(connection.limits, [10_000, 3000]);
  });
});
