import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { mock } from 'node:test';
import type { Connection, RequestHandler } from '../../../plugins/remoting/contract.js';
import { Router } from '../../../plugins/remoting/router.js';
import { RemotingServer, type ServerLimits } from '../../../plugins/remoting/server.js';
import { KernelError } from '../../../kernel/base/errors.js';
import { encodeRequest, encodeResponse, Serialize, type Request } from '../../../protocol/command.js';
import { FieldError } from '../../../protocol/fields.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RawClient } from '../../support/raw-client.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { until } from '../../support/until.js';

const ECHO = 1;
const LATE = 2;
const ANSWERED_ELSEWHERE = 3;
const BAD_FIELD = 4;
const BROKEN = 5;
const SEVERAL = 6;
const CLOSES = 7;
const ASKS_BACK = 8;
const LARGE = 9;

const handlers: ReadonlyMap<number, RequestHandler> = new Map<number, RequestHandler>([
  [ECHO, ({ ext, body }) => ({ code: 0, ext, body: Buffer.from(body) })],
  [LATE, ({ ext }) => new Promise((resolve) => setImmediate(() => resolve({ code: 0, ext })))],
  [
    ANSWERED_ELSEWHERE,
    (request, connection) => {
      const { opaque, serialize, oneway } = request;
      setImmediate(() => connection.reply({ opaque, serialize, oneway }, { code: 77 }));
      return undefined;
    },
  ],
  [
    BAD_FIELD,
    () => {
      throw new FieldError('queueId', 'is missing');
    },
  ],
  [BROKEN, () => Promise.reject(new Error('unforeseen'))],
  [SEVERAL, () => ({ code: 0, body: [Buffer.from('a'), Buffer.alloc(0), Buffer.from('bc')] })],
  [
    CLOSES,
    (_, connection) => {
      connection.close('the handler wants it');
      return { code: 0 };
    },
  ],
  [
    ASKS_BACK,
    async (_, connection) => {
      const { code, body } = await connection.call(500, { question: 'why' }, undefined, 5000);
      return { code, body };
    },
  ],
]);

/** Written as the fast paths do: 10,000 bytes in the slab. */
function answerLarge(request: Request, connection: Connection): undefined {
  const frame = encodeResponse(request, { code: 0, body: Buffer.alloc(10_000, request.opaque) });
  const at = connection.reserve(frame.length);
  connection.written(at + frame.copy(connection.outbound, at));
}

class Bench implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly logger = recordingLogger();
  readonly server: RemotingServer;
  readonly ended: Connection[] = [];
  chunks = 0;

  constructor(limits: Partial<ServerLimits> = {}) {
    const router = new Router();
    for (const [code, handler] of handlers) router.handle(code, handler);
    router.handle(LARGE, answerLarge);
    router.onChunkEnd(() => this.chunks++);
    const usual = { frameBytesHeldMax: 1 << 28, outboundBytesMax: 1 << 20, connectionsMax: 100, backlog: 100 };
    const all = { ...usual, idleMs: 120_000, ...limits };
    this.server = new RemotingServer('test', router, all, this.clock, this.logger);
    this.server.onClose((connection) => this.ended.push(connection));
  }

  static async open(limits?: Partial<ServerLimits>): Promise<Bench> {
    const bench = new Bench(limits);
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

describe('remoting server', () => {
  for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ])
    it(`answers in the form of the question (${serialize})`, async () => {
      await using bench = await Bench.open();
      using client = await bench.connect();
      for (const code of [ECHO, LATE]) {
        const answer = await client.ask(code, { serialize, ext: { a: 'b', c: '键' }, body: Buffer.from('body') });
        assert.equal(answer.serialize, serialize);
        assert.deepEqual({ ...answer.ext }, { a: 'b', c: '键' });
        assert.equal(answer.body.toString(), code === ECHO ? 'body' : '');
      }
      const several = await client.ask(SEVERAL, { serialize });
      assert.equal(several.body.toString(), 'abc');
      const unknown = await client.ask(999, { serialize });
      assert.deepEqual(
        [unknown.code, unknown.remark, unknown.serialize],
        [3, 'request type 999 not supported', serialize],
      );
    });

  it('answers pipelined requests, each by its opaque, and ends each chunk once', async () => {
    await using bench = await Bench.open();
    using client = await bench.connect();
    const asked = Array.from({ length: 200 }, (_, i) => {
      const code = [ECHO, LATE, ANSWERED_ELSEWHERE, 999][i % 4];
      return { i, ...client.prepare(code, { ext: { i: String(i) } }) };
    });
    client.write(Buffer.concat(asked.map(({ frame }) => frame)));
    for (const { i, answer } of asked) {
      const { code, ext } = await answer;
      assert.equal(code, [0, 0, 77, 3][i % 4]);
      if (i % 4 < 2) assert.equal(ext['i'], String(i));
    }
    assert.ok(bench.chunks <= 3, `${bench.chunks} chunk ends for what came as one piece`);
  });

  it('writes all answers of a chunk with one system call', async () => {
    await using bench = await Bench.open();
    using client = await bench.connect();
    const writev = mock.method(Socket.prototype, '_writev' as 'write');
    const write = mock.method(Socket.prototype, '_write' as 'write');
    try {
      const asked = Array.from({ length: 100 }, () => client.prepare(ECHO));
      client.write(Buffer.concat(asked.map(({ frame }) => frame)));
      await Promise.all(asked.map(({ answer }) => answer));
      const ours = [...write.mock.calls, ...writev.mock.calls].filter(
        ({ this: socket }) => (socket as unknown as Socket).localPort === bench.server.port,
      );
      assert.equal(ours.length, bench.chunks);
      assert.ok(bench.chunks <= 2);
    } finally {
      mock.restoreAll();
    }
  });

  it('writes what is large before the chunk ends, so that the peer can begin', async () => {
    await using bench = await Bench.open();
    using client = await bench.connect();
    const askAll = async (): Promise<void> => {
      const asked = Array.from({ length: 18 }, () => client.prepare(LARGE));
      client.write(Buffer.concat(asked.map(({ frame }) => frame)));
      for (const { answer } of asked) {
        const { body, opaque } = await answer;
        assert.deepEqual(body, Buffer.alloc(10_000, opaque));
      }
    };
    // Until the slab has grown answers lie in several.
    await askAll();
    const write = mock.method(Socket.prototype, '_write' as 'write');
    try {
      await askAll();
      const ours = write.mock.calls.filter(
        ({ this: socket }) => (socket as unknown as Socket).localPort === bench.server.port,
      );
      const answers = ours.map(({ arguments: [bytes] }) => Math.floor((bytes as Buffer).length / 10_000));
      assert.deepEqual([bench.chunks, ...answers], [2, 7, 7, 4], 'as soon as there are 64 KiB');
    } finally {
      mock.restoreAll();
    }
  });

  it('never answers a one-way request, whatever comes of it', async () => {
    await using bench = await Bench.open();
    using client = await bench.connect();
    for (const code of [ECHO, LATE, ANSWERED_ELSEWHERE, BAD_FIELD, BROKEN, 999]) client.tell(code);
    for (let i = 0; i < 3; i++) await client.ask(LATE);
    assert.deepEqual(client.strays, []);
  });

  it('answers 1 for a bad field, naming it, and for a handler that fails, and logs both', async () => {
    await using bench = await Bench.open();
    using client = await bench.connect();
    const bad = await client.ask(BAD_FIELD);
    assert.equal(bad.code, 1);
    assert.match(String(bad.remark), /queueId/);
    const broken = await client.ask(BROKEN);
    assert.deepEqual([broken.code, broken.remark], [1, 'unforeseen']);
    assert.equal(bench.logger.lines.filter(({ message }) => message === 'a request failed').length, 2);
  });

  it('asks its peers, and hears their answers', async () => {
    await using bench = await Bench.open();
    using client = await bench.connect();
    const asked = client.ask(ASKS_BACK);
    await until(() => client.requests.length === 1, 'the question came');
    const { opaque, serialize, code, ext } = client.requests[0];
    assert.deepEqual([code, ext['question']], [500, 'why']);
    client.write(encodeResponse({ opaque: 4711, serialize }, { code: 9 }));
    client.write(encodeResponse({ opaque, serialize }, { code: 42, body: Buffer.from('because') }));
    const answer = await asked;
    assert.deepEqual([answer.code, answer.body.toString()], [42, 'because']);
  });

  it('tells those who wait for a peer that it has gone', async () => {
    await using bench = await Bench.open();
    using client = await bench.connect();
    void client.ask(ASKS_BACK).catch(() => undefined);
    await until(() => client.requests.length === 1, 'the question came');
    client.reset();
    await until(
      () => bench.logger.lines.some(({ fields }) => /closed the connection/.test(String(fields['error']))),
      'it failed',
    );
  });

  it('closes a client that does not read, and only that one', async () => {
    await using bench = await Bench.open();
    using reader = await bench.connect();
    using deaf = await bench.connect();
    deaf.socket.pause();
    const question = encodeRequest({ code: ECHO, opaque: 1, body: Buffer.alloc(1 << 20) });
    for (let i = 0; i < 60 && !deaf.socket.destroyed; i++) deaf.write(question);
    await until(() => bench.ended.length === 1, 'it was closed');
    assert.ok(bench.logger.lines.some(({ fields }) => /outboundBytesMax/.test(String(fields['reason']))));
    assert.equal((await reader.ask(ECHO)).code, 0);
    assert.equal(bench.server.count, 1);
  });

  it('says once that a connection ended, whoever ended it, and forgets what it held', async () => {
    await using bench = await Bench.open();
    for (const end of ['close', 'reset', 'handler', 'bad'] as const) {
      bench.ended.length = 0;
      using client = await bench.connect();
      await client.ask(ECHO);
      client.write(encodeRequest({ code: ECHO, opaque: 1 }).subarray(0, 20));
      await until(() => bench.server.budget.heldBytes === 20, 'a part of a frame is held');
      if (end === 'close') client.socket.end();
      else if (end === 'reset') client.reset();
      else if (end === 'bad') client.write(Buffer.alloc(1 << 16, 0xff));
      else {
        client.write(encodeRequest({ code: ECHO, opaque: 1 }).subarray(20));
        // The closing request, and behind it in the same chunk a part of another.
        client.write(Buffer.concat([encodeRequest({ code: CLOSES, opaque: 1 }), Buffer.from([0, 0, 1, 0, 0])]));
      }
      await client.closed;
      await until(() => bench.server.count === 0, `${end}: it is gone`);
      assert.equal(bench.ended.length, 1, end);
      assert.equal(bench.server.budget.heldBytes, 0, end);
    }
  });

  it('takes no more than connectionsMax, says so once, and takes new ones when others left', async () => {
    await using bench = await Bench.open({ connectionsMax: 2 });
    using first = await bench.connect();
    using second = await bench.connect();
    await Promise.all([first.ask(ECHO), second.ask(ECHO)]);
    for (let i = 0; i < 3; i++) await (await bench.connect()).closed;
    assert.equal(bench.logger.lines.filter(({ message }) => message.includes('connectionsMax')).length, 1);
    first.socket.end();
    await until(() => bench.server.count === 1, 'one left');
    using third = await bench.connect();
    assert.equal((await third.ask(ECHO)).code, 0);
  });

  it('bounds what unfinished frames of all connections hold', async () => {
    await using bench = await Bench.open({ frameBytesHeldMax: 1 << 20 });
    using good = await bench.connect();
    const greedy = await Promise.all([bench.connect(), bench.connect()]);
    const part = Buffer.alloc(700_000);
    part.writeInt32BE(16_000_000);
    for (const client of greedy) client.write(part);
    await Promise.race(greedy.map(({ closed }) => closed));
    assert.equal((await good.ask(ECHO)).code, 0);
    for (const client of greedy) client[Symbol.dispose]();
    await until(() => bench.server.budget.heldBytes === 0, 'all is given back');
  });

  it('says which port is in use', async () => {
    await using bench = await Bench.open();
    const second = new Bench();
    await assert.rejects(second.server.listen('127.0.0.1', [bench.server.port]), (error: Error) => {
      return (
        error instanceof KernelError &&
        error.code === 'PORT_IN_USE' &&
        error.message.includes(String(bench.server.port))
      );
    });
  });

  it('stops with its answers written, also when a client does not read', async () => {
    const bench = await Bench.open();
    using client = await bench.connect();
    using deaf = await bench.connect();
    await deaf.ask(ECHO);
    deaf.socket.pause();
    deaf.write(encodeRequest({ code: ECHO, opaque: 1, body: Buffer.alloc(900_000) }));
    const { frame, answer } = client.prepare(LATE);
    client.write(frame);
    await answer;
    const { frame: last, answer: lastAnswer } = client.prepare(ECHO);
    client.write(last);
    await lastAnswer;
    bench.server.stopAccepting();
    await bench.server.close();
    await client.closed;
    assert.equal(bench.server.count, 0);
  });
});

describe('remoting server, over time', () => {
  let looks: (() => void)[] = [];

  beforeEach(() => {
    looks = [];
    mock.method(globalThis, 'setInterval', (look: () => void) => void looks.push(look));
  });
  afterEach(() => mock.restoreAll());

  /** Time passes, and the server looks at its connections. */
  function pass(bench: Bench, ms: number): void {
    bench.clock.advance(ms);
    for (const look of looks) look();
  }

  it('closes who was silent for serverChannelMaxIdleTimeSeconds', async () => {
    await using bench = await Bench.open();
    using silent = await bench.connect();
    using lively = await bench.connect();
    await Promise.all([silent.ask(ECHO), lively.ask(ECHO)]);
    pass(bench, 100_000);
    await lively.ask(ECHO);
    pass(bench, 20_001);
    await silent.closed;
    assert.equal((await lively.ask(ECHO)).code, 0);
    assert.ok(
      bench.logger.lines.some(({ fields }) => /serverChannelMaxIdleTimeSeconds/.test(String(fields['reason']))),
    );
  });

  it('closes who sends a frame byte by byte, after 30 s', async () => {
    await using bench = await Bench.open();
    using slow = await bench.connect();
    using other = await bench.connect();
    const bytes = encodeRequest({ code: ECHO, opaque: 1 });
    for (let i = 0; i < 30; i++) {
      slow.write(bytes.subarray(i, i + 1));
      await until(() => bench.server.budget.heldBytes === i + 1, `byte ${i} is there`);
      pass(bench, 1000);
      assert.equal(slow.isClosed, false);
    }
    pass(bench, 1);
    await slow.closed;
    assert.equal((await other.ask(ECHO)).code, 0);
  });

  it('does not take a client that always has a part of its next frame under way for a slow one', async () => {
    await using bench = await Bench.open();
    using client = await bench.connect();
    const bytes = encodeRequest({ code: ECHO, opaque: 1 });
    client.write(bytes.subarray(0, 10));
    for (let second = 0; second < 60; second++) {
      // The rest of this one, and the beginning of the next.
      client.write(Buffer.concat([bytes.subarray(10), bytes.subarray(0, 10)]));
      await until(() => client.strays.length === second + 1, `answer ${second}`);
      pass(bench, 1000);
      assert.equal(client.isClosed, false, `closed after ${second} s`);
    }
  });

  it('lets go of one that it wanted to close and that does not read', async () => {
    await using bench = await Bench.open({ outboundBytesMax: 1 << 30 });
    using deaf = await bench.connect();
    await deaf.ask(ECHO);
    deaf.socket.pause();
    for (let i = 0; i < 20; i++) deaf.write(encodeRequest({ code: ECHO, opaque: 1, body: Buffer.alloc(1 << 20) }));
    await until(() => bench.server.budget.heldBytes === 0 && deaf.socket.writableLength === 0, 'it has sent all');
    pass(bench, 120_001);
    await until(() => bench.ended.length === 1, 'it is told that it ends');
    pass(bench, 5000);
    await until(() => bench.server.count === 0, 'its socket is gone');
  });
});
