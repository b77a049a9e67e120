import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'mocha';
import { until } from '../support/until.js';
import { arrived, createTopic, driver, mqadmin, numbered, patienceMs, routed, unique } from './support/suite.js';
import { defaultKind, startNameServer, startTarget, type NameServer, type Target } from './support/target.js';

/** The end of a connection tells it; the expiry of a silent broker would take two minutes. */
const forgottenMs = 10_000;

/** Sends and consumes through the addresses given. */
async function works(namesrv: string, topic: string): Promise<void> {
  const java = await driver();
  const producer = await java.producer(namesrv);
  for (const message of numbered(topic, 8)) assert.equal((await producer.send(message)).status, 'SEND_OK');
  const consumer = await java.pushConsumer({ namesrv, group: unique('group'), topic });
  await arrived(consumer, 8);
  await Promise.all([producer.close(), consumer.close()]);
}

describe('name servers', function () {
  this.timeout(120_000);
  const running: { stop(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const server of running.splice(0).reverse()) await server.stop();
  });

  async function nameServer(kind = defaultKind): Promise<NameServer> {
    const server = await startNameServer(kind);
    running.push(server);
    return server;
  }

  async function broker(namesrv: string, kind = defaultKind): Promise<Target> {
    const target = await startTarget({ namesrv, kind });
    running.push(target);
    return target;
  }

  it('a broker registers with each of two, and clients go on with the second when the first has gone', async () => {
    const [first, second] = [await nameServer(), await nameServer()];
    const served = await broker(`${first.address};${second.address}`);
    const topic = unique('two');
    await createTopic(served, topic);
    for (const server of [first, second]) await routed({ ...served, namesrv: server.address }, topic);
    running.splice(running.indexOf(first), 1);
    await first.stop();
    await works(`${first.address};${second.address}`, topic);
  });

  it('forget a broker at once, when it stops and when it dies', async () => {
    const [java, server] = [await driver(), await nameServer()];
    for (const end of ['stop', 'kill9'] as const) {
      const served = await startTarget({ namesrv: server.address });
      await routed(served, 'TBW102');
      await served[end]();
      const asked = ['topicRoute', '-n', server.address, '-t', 'TBW102'];
      const gone = async (): Promise<boolean> => (await java.mqadmin(...asked)).err.includes('CODE: 17');
      await until(gone, `the broker is forgotten after ${end}`, forgottenMs);
    }
  });

  it('our broker serves through the real name server', async () => {
    const server = await nameServer('jvm');
    const topic = unique('java_namesrv');
    const served = await broker(server.address);
    await createTopic(served, topic);
    await works(server.address, topic);
    const made = unique('made_on_send');
    const producer = await (await driver()).producer(server.address);
    await producer.send({ topic: made, body: 'x' });
    await routed(served, made);
    await producer.close();
  });

  it('the real broker serves through our name server', async () => {
    const server = await nameServer();
    const served = await broker(server.address, 'jvm');
    const topic = unique('java_broker');
    await createTopic(served, topic);
    await works(server.address, topic);
    const [, row] = await mqadmin(served, 'topicRoute', '-l', '-t', topic);
    assert.match(row ?? '', new RegExp(`^DefaultCluster +broker-a +{0=${served.broker}} +4 +4 +6$`));
    await mqadmin(served, 'deleteTopic', '-c', 'DefaultCluster', '-t', topic);
    const gone = async (): Promise<boolean> => !(await mqadmin(served, 'topicList')).includes(topic);
    await until(gone, 'the topic has left the name server', patienceMs);
  });
});
