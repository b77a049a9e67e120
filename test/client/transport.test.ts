import assert from 'node:assert/strict';
import { parseAddress, parseNameServers } from '../../client/transport/address.js';
import { NameServers } from '../../client/transport/name-servers.js';
import { Transport } from '../../client/transport/transport.js';
import { ClientError } from '../../client/errors.js';
import { silentLogger } from '../../kernel/base/logger.js';
import { LanguageCode } from '../../protocol/codes.js';
import { Serialize } from '../../protocol/command.js';
import { FakeClock } from '../support/fake-clock.js';
import { until } from '../support/until.js';
import { ScriptedServer } from './support/scripted-server.js';

const CODE = 105;

function failsWith(code: string): (error: unknown) => boolean {
  return (error) => error instanceof ClientError && error.code === code;
}

describe('client transport', () => {
  let server: ScriptedServer;
  let clock: FakeClock;
  let transport: Transport;

  beforeEach(async () => {
    server = await ScriptedServer.listen();
    clock = new FakeClock();
    transport = new Transport({ clock, logger: silentLogger, serialize: Serialize.ROCKETMQ });
  });

  afterEach(async () => {
    await transport.stop();
    await server.close();
  });

  it('matches answers with requests, in whatever order they come', async () => {
    const release: (() => void)[] = [];
    server.on(CODE, async (request) => {
      await new Promise<void>((resolve) => release.push(resolve));
      return { code: 0, ext: { name: request.ext['name']! } };
    });
    const ask = (name: string): Promise<string | undefined> =>
      transport.invoke(server.address, { code: CODE, ext: { name } }, 1000).then((answer) => answer.ext['name']);
    const answers = Promise.all([ask('a'), ask('b'), ask('c')]);
    await until(() => release.length === 3, 'all three requests arrived');
    for (const one of release.reverse()) one();
    assert.deepEqual(await answers, ['a', 'b', 'c']);
    assert.equal(server.connections.size, 1);
  });

  it('says that it is no Java client, and speaks as 4.9.7', async () => {
    server.on(CODE, { code: 0 });
    await transport.invoke(server.address, { code: CODE }, 1000);
    assert.equal(server.requests[0]!.language, LanguageCode.OTHER);
    assert.equal(server.requests[0]!.version, 407);
    assert.equal(server.requests[0]!.serialize, Serialize.ROCKETMQ);
  });

  it('gives up by the monotonic clock, whatever the wall clock does', async () => {
    server.on(CODE, 'silent');
    let failure: unknown;
    const asked = transport.invoke(server.address, { code: CODE }, 3000).catch((error: unknown) => (failure = error));
    await until(() => server.asked(CODE).length === 1, 'the request arrived');
    clock.stepWall(86_400_000);
    clock.advance(2900);
    server.on(CODE + 1, { code: 0 });
    await transport.invoke(server.address, { code: CODE + 1 }, 10_000);
    assert.equal(failure, undefined);
    clock.advance(101);
    await asked;
    assert.ok(failsWith('REQUEST_TIMEOUT')(failure), String(failure));
    assert.match(String(failure), /did not answer request 105 within 3000 ms/);
  });

  it('keeps a connection that still speaks, and leaves one that went silent', async () => {
    server.on(CODE, 'silent').on(CODE + 1, { code: 0 });
    const slow = transport.invoke(server.address, { code: CODE }, 1000);
    await until(() => server.asked(CODE).length === 1, 'the request arrived');
    clock.advance(10);
    await transport.invoke(server.address, { code: CODE + 1 }, 1000);
    clock.advance(1000);
    await assert.rejects(slow, failsWith('REQUEST_TIMEOUT'));
    assert.equal(server.connections.size, 1);

    const lost = transport.invoke(server.address, { code: CODE }, 1000);
    await until(() => server.asked(CODE).length === 2, 'the second request arrived');
    clock.advance(1001);
    await assert.rejects(lost, failsWith('REQUEST_TIMEOUT'));
    await until(() => server.connections.size === 0, 'the silent connection was closed');
    await transport.invoke(server.address, { code: CODE + 1 }, 1000);
    assert.equal(server.connections.size, 1);
  });

  it('ignores an answer after its deadline', async () => {
    let release: (() => void) | undefined;
    server.on(CODE, async () => {
      await new Promise<void>((resolve) => (release = resolve));
      return { code: 0 };
    });
    const late = transport.invoke(server.address, { code: CODE }, 1000);
    await until(() => release !== undefined, 'the request arrived');
    server.on(CODE + 1, { code: 0 });
    clock.advance(1);
    await transport.invoke(server.address, { code: CODE + 1 }, 1000);
    clock.advance(1000);
    await assert.rejects(late, failsWith('REQUEST_TIMEOUT'));
    release!();
    const answer = await transport.invoke(server.address, { code: CODE + 1 }, 1000);
    assert.equal(answer.code, 0);
  });

  it('tells every request in flight when the connection ends, and connects again', async () => {
    server.on(CODE, 'silent').on(CODE + 1, { code: 0 });
    const asked = [1, 2, 3].map(() => transport.invoke(server.address, { code: CODE }, 1000));
    await until(() => server.asked(CODE).length === 3, 'all requests arrived');
    server.resetAll();
    for (const one of asked) await assert.rejects(one, failsWith('CONNECTION_LOST'));
    assert.equal((await transport.invoke(server.address, { code: CODE + 1 }, 1000)).code, 0);
  });

  it('names the address when there is no connection', async () => {
    const { address } = server;
    await server.close();
    await assert.rejects(transport.invoke(address, { code: CODE }, 1000), (error: unknown) => {
      assert.ok(failsWith('CONNECT_FAILED')(error));
      assert.match(String(error), new RegExp(address));
      return true;
    });
    server = await ScriptedServer.listen();
  });

  it('turns a refusing code into an error with code and remark', async () => {
    server.on(CODE, { code: 14, remark: 'disk full' });
    await assert.rejects(transport.request(server.address, { code: CODE }, 1000), (error: unknown) => {
      assert.ok(error instanceof ClientError);
      assert.equal(error.code, 'REFUSED');
      assert.equal(error.responseCode, 14);
      assert.match(error.message, /disk full/);
      return true;
    });
    assert.equal((await transport.request(server.address, { code: CODE }, 1000, [14])).code, 14);
  });

  it('sends one-way requests without waiting', async () => {
    await transport.oneway(server.address, { code: CODE });
    await until(() => server.asked(CODE).length === 1, 'the request arrived');
    assert.equal(server.requests[0]!.oneway, true);
  });

  it('serves requests of the server, answers 3 to those it does not know and 1 to those that fail', async () => {
    transport.handle(40, () => ({ code: 0, ext: { a: 'b' } }));
    transport.handle(41, () => {
      throw new Error('broken');
    });
    server.on(CODE, { code: 0 });
    await transport.invoke(server.address, { code: CODE }, 1000);
    const [good, unknown, failing] = [40, 307, 41].map((code) => server.push(code, {}, false)) as [
      number,
      number,
      number,
    ];
    const oneway = server.push(308, {}, true);
    await until(() => server.answer(failing) !== undefined, 'all were answered');
    assert.equal(server.answer(good)!.code, 0);
    assert.equal(server.answer(good)!.ext['a'], 'b');
    assert.equal(server.answer(unknown)!.code, 3);
    assert.equal(server.answer(failing)!.code, 1);
    assert.equal(server.answer(failing)!.remark, 'broken');
    assert.equal(server.answer(oneway), undefined);
  });

  it('closes a connection that sends what is no frame', async () => {
    server.on(CODE, (_, connection) => {
      connection.socket.write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
      return 'silent';
    });
    await assert.rejects(transport.invoke(server.address, { code: CODE }, 1000), failsWith('CONNECTION_LOST'));
  });
});

describe('client addresses', () => {
  it('reads host and port, IPv6 too', () => {
    assert.deepEqual(parseAddress('localhost:9876'), { host: 'localhost', port: 9876 });
    assert.deepEqual(parseAddress('[::1]:9876'), { host: '::1', port: 9876 });
    assert.deepEqual(parseAddress('0:0:0:0:0:0:0:1:10911'), { host: '0:0:0:0:0:0:0:1', port: 10911 });
    for (const bad of ['', 'localhost', ':9876', 'a:', 'a:0', 'a:65536', 'a:b', 'a:1x'])
      assert.throws(() => parseAddress(bad), failsWith('ILLEGAL_ARGUMENT'), bad);
  });

  it('reads lists of name servers', () => {
    assert.deepEqual(parseNameServers(' a:1; b:2;;a:1 '), ['a:1', 'b:2']);
    assert.throws(() => parseNameServers(' ; '), failsWith('ILLEGAL_ARGUMENT'));
  });
});

describe('client name servers', () => {
  it('goes on to the next when one fails, and stays with it', async () => {
    const [first, second] = [await ScriptedServer.listen(), await ScriptedServer.listen()];
    const transport = new Transport({ clock: new FakeClock(), logger: silentLogger, serialize: Serialize.JSON });
    const list = `${first.address};${second.address}`;
    const servers = new NameServers(list, transport, silentLogger, 0);
    first.on(CODE, { code: 0, remark: 'first' });
    second.on(CODE, { code: 0, remark: 'second' });
    const ask = async (): Promise<string | null> => (await servers.invoke({ code: CODE }, 1000)).remark;
    assert.equal(await ask(), 'first');
    const { address } = first;
    await first.close();
    assert.equal(await ask(), 'second');
    assert.equal(await ask(), 'second');
    await second.close();
    await assert.rejects(ask(), (error: unknown) => {
      assert.ok(failsWith('NAMESRV_UNREACHABLE')(error));
      assert.match(String(error), new RegExp(address));
      return true;
    });
    await transport.stop();
  });

  it('does not ask another one because of a refusal', async () => {
    const [first, second] = [await ScriptedServer.listen(), await ScriptedServer.listen()];
    const transport = new Transport({ clock: new FakeClock(), logger: silentLogger, serialize: Serialize.JSON });
    first.on(CODE, { code: 17 });
    second.on(CODE, { code: 0 });
    const servers = new NameServers(`${first.address};${second.address}`, transport, silentLogger, 0);
    assert.equal((await servers.invoke({ code: CODE }, 1000)).code, 17);
    assert.equal(second.requests.length, 0);
    await transport.stop();
    await Promise.all([first.close(), second.close()]);
  });
});
