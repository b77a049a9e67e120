import assert from 'node:assert/strict';
import { WaitingSends } from '../../../plugins/send/waiting-sends.js';
import { RequestCode } from '../../../protocol/codes.js';
import { decodeCommand, encodeRequest, Serialize, type Request } from '../../../protocol/command.js';
import { FakeConnection } from '../../support/fake-connection.js';

function frame(
  bodyBytes = 100,
  serialize: Serialize = Serialize.JSON,
  ext: Record<string, string> = { a: 'PG', b: 'T' },
): Buffer {
  return encodeRequest({
    code: RequestCode.SEND_MESSAGE_V2,
    opaque: 7,
    ext,
    serialize,
    body: Buffer.alloc(bodyBytes, 1),
  });
}

function decoded(bytes: Buffer): Request {
  return decodeCommand(bytes, 4, bytes.length);
}

describe('waiting sends', () => {
  for (const [name, bytes] of [
    ['JSON', frame()],
    ['JSON with escapes', frame(100, Serialize.JSON, { a: 'P"G', b: 'T\n' })],
    ['JSON with spaces', spaced()],
    ['binary', frame(100, Serialize.ROCKETMQ)],
    ['binary without fields', frame(100, Serialize.ROCKETMQ, {})],
    ['an empty body', frame(0)],
  ] as const)
    it(`keep bytes of their own: ${name}`, () => {
      const expected = decoded(Buffer.from(bytes));
      const [ext, body] = [{ ...expected.ext }, Buffer.from(expected.body)];
      const waiting = new WaitingSends(1 << 20);
      waiting.add(decoded(bytes), new FakeConnection(), 0);
      bytes.fill(0xff);
      const { request } = waiting.peek()!;
      assert.deepEqual({ ...request.ext }, ext);
      assert.deepEqual(request.body, body);
      assert.deepEqual([request.code, request.opaque, request.serialize], [310, 7, expected.serialize]);
      assert.deepEqual({ ...request.copied().ext }, ext, 'and so does a copy of the copy');
    });

  it('come out in the order in which they went in', () => {
    const waiting = new WaitingSends(1 << 20);
    const connections = Array.from({ length: 200 }, () => new FakeConnection());
    for (const [i, connection] of connections.entries()) waiting.add(decoded(frame()), connection, i);
    assert.equal(waiting.size, 200);
    for (const connection of connections) {
      assert.equal(waiting.peek()?.connection, connection);
      waiting.shift();
    }
    assert.equal(waiting.peek(), undefined);
  });

  it('pause whoever sends at the bound, once, and resume all below it', () => {
    const waiting = new WaitingSends(500);
    const [first, second, third] = [new FakeConnection(), new FakeConnection(), new FakeConnection()];
    waiting.add(decoded(frame(300)), first, 0);
    assert.equal(first.pauses, 0);
    waiting.add(decoded(frame(300)), second, 0);
    waiting.add(decoded(frame(300)), second, 0);
    waiting.add(decoded(frame(300)), third, 0);
    assert.deepEqual([first.pauses, second.pauses, third.pauses], [0, 1, 1]);
    waiting.shift();
    waiting.shift();
    assert.deepEqual([second.pauses, third.pauses], [1, 1], 'still at the bound');
    waiting.shift();
    assert.deepEqual([second.pauses, third.pauses], [0, 0]);
    waiting.shift();
    assert.equal(waiting.size, 0);
  });
});

/** A header that the fast scanner leaves to JSON.parse. */
function spaced(): Buffer {
  const header = Buffer.from('{ "code": 310, "opaque": 7, "extFields": { "a": "PG", "b": "T" } }');
  const head = Buffer.alloc(8);
  head.writeInt32BE(4 + header.length + 3);
  head.writeInt32BE(header.length, 4);
  return Buffer.concat([head, header, Buffer.from('xyz')]);
}
