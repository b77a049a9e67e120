import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, Socket, type AddressInfo } from 'node:net';
import { readInto } from '../../../plugins/remoting/reused-reads.js';
import { Router } from '../../../plugins/remoting/router.js';
import { RemotingServer } from '../../../plugins/remoting/server.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RawClient } from '../../support/raw-client.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { until } from '../../support/until.js';

const ECHO = 1;
const KEEPS = 2;
const IN_PLACE = 3;

class Bench implements AsyncDisposable {
  readonly server: RemotingServer;
  /** Memory in which requests of IN_PLACE lay. */
  readonly places = new Set<ArrayBufferLike>();
  release = (): void => undefined;

  constructor() {
    const router = new Router();
    const released = new Promise<void>((resolve) => (this.release = resolve));
    router.handle(ECHO, ({ body }) => ({ code: 0, body }));
    router.handle(KEEPS, async (request) => {
      await released;
      return { code: 0, ext: request.ext, body: request.body };
    });
    router.handleInPlace(IN_PLACE, ({ buffer }) => {
      this.places.add(buffer.buffer);
      return { code: 0 };
    });
    const limits = { frameBytesHeldMax: 1 << 28, outboundBytesMax: 1 << 20, connectionsMax: 100, backlog: 100 };
    this.server = new RemotingServer(
      'test',
      router,
      { ...limits, idleMs: 120_000 },
      new FakeClock(),
      recordingLogger(),
    );
  }

  static async open(): Promise<Bench> {
    const bench = new Bench();
    await bench.server.listen('127.0.0.1', [0]);
    return bench;
  }

  connect(): Promise<RawClient> {
    return RawClient.connect(`127.0.0.1:${this.server.port}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.close();
  }
}

/** Two ends of a connection, the accepted one paused. */
async function pair(): Promise<{ accepted: Socket; opened: Socket }> {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const opened = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [accepted] = (await once(server, 'connection')) as [Socket];
  server.close();
  return { accepted, opened };
}

describe('sockets read into one memory', () => {
  it('all are, and handlers that may keep a request get a copy', async () => {
    await using bench = await Bench.open();
    using first = await bench.connect();
    using second = await bench.connect();
    const body = Buffer.alloc(500, 'kept');
    const kept = first.ask(KEEPS, { ext: { a: 'kept' }, body });
    await first.ask(IN_PLACE);
    for (const client of [first, second]) await client.ask(ECHO, { body: Buffer.alloc(5000, 'other') });
    await second.ask(IN_PLACE);
    bench.release();
    const answer = await kept;
    assert.deepEqual([{ ...answer.ext }, answer.body], [{ a: 'kept' }, body]);
    assert.equal(bench.places.size, 1);
  });

  it('a request that comes in pieces is joined between those of others', async () => {
    await using bench = await Bench.open();
    using first = await bench.connect();
    using second = await bench.connect();
    const body = Buffer.alloc(300_000, 'pieces ');
    const { frame, answer } = first.prepare(ECHO, { body });
    for (let at = 0; at < frame.length; at += 50_000) {
      first.write(frame.subarray(at, at + 50_000));
      await second.ask(ECHO, { body: Buffer.alloc(20_000, at & 0xff) });
    }
    assert.deepEqual((await answer).body, body);
  });

  it('one without such a handle is read in the common way', () => {
    const plain = new Socket();
    const read: string[] = [];
    const socket = readInto(plain, Buffer.alloc(100), (bytes) => read.push(bytes.toString()));
    assert.equal(socket, plain);
    plain.emit('data', Buffer.from('plain'));
    assert.deepEqual(read, ['plain']);
  });

  it('on Windows, where reads are under way at once, none are', async () => {
    const { accepted, opened } = await pair();
    const shared = Buffer.alloc(64);
    const read: Buffer[] = [];
    const socket = readInto(accepted, shared, (bytes) => read.push(bytes), 'win32');
    assert.equal(socket, accepted);
    opened.write('own memory');
    await until(() => read.length > 0, 'what was written');
    assert.equal(Buffer.concat(read).toString(), 'own memory');
    assert.ok(
      shared.every((byte) => byte === 0),
      'the shared memory is untouched',
    );
    opened.end();
    await once(socket, 'close');
  });

  it('they pause, go on, and end as others do', async () => {
    const { accepted, opened } = await pair();
    const buffer = Buffer.alloc(64);
    let text = '';
    const socket = readInto(accepted, buffer, (bytes) => (text += bytes.toString()));
    assert.notEqual(socket, accepted, 'this Node has such handles');
    assert.equal(socket.remotePort, opened.localPort);
    opened.write('x'.repeat(1000));
    await until(() => text.length === 1000, 'all of the text');
    socket.pause();
    opened.write('y'.repeat(100));
    socket.write('answer');
    const [answer] = (await once(opened, 'data')) as [Buffer];
    assert.equal(answer.toString(), 'answer');
    assert.equal(text.length, 1000, 'nothing is read meanwhile');
    socket.resume();
    await until(() => text.length === 1100, 'the rest');
    opened.end();
    await once(socket, 'close');
  });
});
