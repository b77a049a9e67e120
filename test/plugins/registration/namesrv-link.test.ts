import assert from 'node:assert/strict';
import { NamesrvLink, type Announcement, type LinkOptions } from '../../../plugins/registration/namesrv-link.js';
import { encodeKVTable } from '../../../protocol/bodies/kv-table.js';
import { decodeDataVersion, encodeDataVersion } from '../../../protocol/bodies/topic-config.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { until } from '../../support/until.js';
import { ScriptedNamesrv } from './scripted-namesrv.js';

const announcement: Announcement = {
  identity: { brokerName: 'a', brokerAddr: '127.0.0.1:10911', clusterName: 'C', brokerId: 0 },
  ext: { brokerName: 'a' },
  body: Buffer.from('{}'),
  dataVersion: { timestamp: 5, counter: 1 },
};

function linkTo(port: () => number, more: Partial<LinkOptions> = {}) {
  const logger = recordingLogger();
  const link = new NamesrvLink({
    name: 'ns',
    address: () => (port() === 0 ? undefined : { host: '127.0.0.1', port: port() }),
    announcement: () => announcement,
    connectTimeoutMs: 1000,
    timeoutMs: 200,
    periodMs: 20,
    logger,
    ...more,
  });
  return { link, logger };
}

describe('plugins/registration: one name server', () => {
  it('registers over one kept connection and takes the answer', async () => {
    await using ns = await ScriptedNamesrv.listen();
    ns.answer = () => ({
      code: 0,
      ext: { masterAddr: 'm:1', haServerAddr: 'h:2' },
      body: encodeKVTable(new Map([['T', 'a:1']])),
    });
    const { link } = linkTo(() => ns.port);
    assert.equal(link.result, undefined);
    const result = await link.register(true);
    assert.deepEqual(result, { namesrv: 'ns', ok: true, problem: '', masterAddr: 'm:1', haServerAddr: 'h:2' });
    assert.deepEqual(link.order, new Map([['T', 'a:1']]));
    await link.register(true);
    assert.deepEqual(ns.codes, [103, 103]);
    assert.equal(ns.sockets.size, 1);
    await link.close();
    assert.deepEqual(ns.codes, [103, 103, 104]);
    assert.deepEqual({ ...ns.requests[2]?.ext }, { ...announcement.identity, brokerId: '0' });
    await until(() => ns.sockets.size === 0, 'the connection ended');
  });

  it('without force asks for the data version first, and registers only when it is another', async () => {
    await using ns = await ScriptedNamesrv.listen();
    const { link } = linkTo(() => ns.port);
    const answers: readonly [changed: string, counter: number | undefined, registers: boolean][] = [
      ['false', 1, false],
      ['true', 1, true],
      ['false', 2, true],
      ['false', undefined, false],
    ];
    await link.register(false);
    assert.deepEqual(ns.codes, [103], 'the first one goes in any case');
    for (const [changed, counter, registers] of answers) {
      ns.requests.length = 0;
      ns.answer = ({ code }) => {
        if (code !== 322) return { code: 0, ext: {} };
        const answer = { code: 0, ext: { changed } };
        return counter === undefined ? answer : { ...answer, body: encodeDataVersion({ timestamp: 5, counter }) };
      };
      assert.equal((await link.register(false)).ok, true);
      assert.deepEqual(ns.codes, registers ? [322, 103] : [322], `${changed} ${counter}`);
      assert.deepEqual(decodeDataVersion(ns.requests[0]?.body ?? ''), announcement.dataVersion);
    }
    await link.close();
  });

  it('makes one more registration of all that are asked for while one runs', async () => {
    await using ns = await ScriptedNamesrv.listen();
    const { link } = linkTo(() => ns.port);
    const first = link.register(true);
    await until(() => ns.codes.length > 0, 'the first is on its way');
    await Promise.all([first, ...Array.from({ length: 20 }, () => link.register(true))]);
    assert.equal(ns.codes.length, 2);
    await link.close();
  });

  it('registers again by itself, and by 103, after its connection was lost', async () => {
    await using ns = await ScriptedNamesrv.listen();
    const { link, logger } = linkTo(() => ns.port);
    await link.register(true);
    ns.dropConnections();
    await until(() => ns.codes.length === 2, 'it came back');
    await until(() => link.result?.ok === true, 'it is registered');
    assert.deepEqual(ns.codes, [103, 103]);
    assert.deepEqual(
      logger.lines.map(({ level }) => level),
      ['info', 'warn', 'info'],
    );
    await link.close();
  });

  it('tries on while the name server is down, with one line when it fails and one when it is back', async () => {
    const ns = await ScriptedNamesrv.listen();
    const { port } = ns;
    await ns.stop();
    const { link, logger } = linkTo(() => port);
    const result = await link.register(true);
    assert.equal(result.ok, false);
    assert.match(result.problem, /ECONNREFUSED/);
    for (let i = 0; i < 5; i++) await link.register(true);
    await ns.listen(port);
    await until(() => link.result?.ok === true, 'it is registered');
    assert.deepEqual(
      logger.lines.map(({ level }) => level),
      ['warn', 'info'],
    );
    await link.close();
    await ns.stop();
  });

  it('gives up a call that is not answered, and closes the connection it was made on', async () => {
    await using ns = await ScriptedNamesrv.listen();
    ns.answer = () => undefined;
    const { link } = linkTo(() => ns.port, { timeoutMs: 30, periodMs: 60_000 });
    const result = await link.register(true);
    assert.match(result.problem, /no answer to request 103 within 30 ms/);
    await until(() => ns.sockets.size === 0, 'the connection ended');
    await link.close();
    assert.deepEqual(ns.codes, [103], 'what is not registered is not unregistered');
  });

  it('shows why it was refused, and what is no answer ends the connection', async () => {
    await using ns = await ScriptedNamesrv.listen();
    ns.answer = () => ({ code: 1 });
    const { link } = linkTo(() => ns.port, { periodMs: 60_000 });
    assert.match((await link.register(true)).problem, /answered 1/);
    ns.answer = () => {
      for (const socket of ns.sockets) socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
      return undefined;
    };
    assert.equal((await link.register(true)).ok, false);
    await until(() => ns.sockets.size === 0, 'the connection ended');
    await link.close();
  });

  it('waits for an own name server that does not listen yet', async () => {
    await using ns = await ScriptedNamesrv.listen();
    let port = 0;
    const { link } = linkTo(() => port);
    assert.equal((await link.register(true)).ok, false);
    port = ns.port;
    await until(() => link.result?.ok === true, 'it is registered');
    await link.close();
  });

  it('closes at once although a name server does not answer', async () => {
    await using ns = await ScriptedNamesrv.listen();
    ns.answer = () => undefined;
    const { link } = linkTo(() => ns.port, { timeoutMs: 60_000 });
    const hanging = link.register(true);
    await until(() => ns.codes.length === 1, 'the request is there');
    await link.close();
    assert.equal((await hanging).ok, false);
  });

  it('makes no try after close', async () => {
    await using ns = await ScriptedNamesrv.listen();
    const { link } = linkTo(() => ns.port);
    await link.close();
    assert.equal((await link.register(true)).ok, false);
    assert.deepEqual(ns.codes, []);
  });
});
