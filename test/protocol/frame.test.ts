import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ProtocolError } from '../../protocol/errors.js';
import { FRAME_BYTES_MAX, FrameAssembler, FrameBudget } from '../../protocol/frame.js';

function frameOf(content: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length);
  return Buffer.concat([length, content]);
}

/** Every chunk lies in the same memory, as a socket's reads do. */
function collect(assembler: FrameAssembler, chunks: readonly Buffer[]): string[] {
  const frames: string[] = [];
  const memory = Buffer.alloc(chunks.reduce((most, { length }) => Math.max(most, length), 0));
  for (const chunk of chunks) {
    const read = memory.fill(0xff).subarray(0, chunk.copy(memory));
    assembler.push(read, (buffer, start, end) => frames.push(buffer.toString('hex', start, end)));
  }
  return frames;
}

describe('protocol/frame', () => {
  it('gives the same frames however the bytes are cut', () => {
    const contents = fc.array(fc.uint8Array({ minLength: 4, maxLength: 300 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(contents, fc.array(fc.nat(7000), { maxLength: 40 }), (frames, cuts) => {
        const stream = Buffer.concat(frames.map(frameOf));
        const places = [0, ...cuts.map((cut) => cut % (stream.length + 1)).sort((a, b) => a - b), stream.length];
        const chunks = places.slice(1).map((to, index) => Buffer.from(stream.subarray(places[index]!, to)));
        const budget = new FrameBudget(1 << 20);
        const assembler = new FrameAssembler(budget);
        assert.deepEqual(
          collect(assembler, chunks),
          frames.map((frame) => Buffer.from(frame).toString('hex')),
        );
        assert.equal(assembler.heldBytes, 0);
        assert.equal(budget.heldBytes, 0);
      }),
    );
  });

  it('gives the same frames byte by byte, also large ones', () => {
    const large = Buffer.alloc(200_000, 'abcdefg');
    const stream = Buffer.concat([frameOf(Buffer.alloc(4)), frameOf(large), frameOf(Buffer.alloc(9, 1))]);
    const chunks = Array.from(stream, (byte) => Buffer.from([byte]));
    assert.deepEqual(collect(new FrameAssembler(), chunks), ['00000000', large.toString('hex'), '010101010101010101']);
  });

  it('passes a frame that lies in one chunk on in place', () => {
    const chunk = Buffer.concat([frameOf(Buffer.from('first')), frameOf(Buffer.from('second'))]);
    const seen: unknown[] = [];
    new FrameAssembler().push(chunk, (buffer, start, end) => seen.push([buffer === chunk, start, end]));
    assert.deepEqual(seen, [
      [true, 4, 9],
      [true, 13, 19],
    ]);
  });

  it('joins a frame over many chunks once', () => {
    const content = Buffer.alloc(3_000_000, 'xyz');
    const stream = frameOf(content);
    const assembler = new FrameAssembler();
    const frames: Buffer[] = [];
    for (let at = 0; at < stream.length; at += 65536) {
      assembler.push(stream.subarray(at, at + 65536), (buffer, start, end) => frames.push(buffer.subarray(start, end)));
    }
    assert.equal(frames.length, 1);
    assert.ok(frames[0]!.equals(content));
  });

  it('does not look at a small rest in the chunk again, which may be used for other bytes then (B08)', () => {
    const assembler = new FrameAssembler();
    const stream = frameOf(Buffer.from('mine'));
    const chunk = Buffer.concat([frameOf(Buffer.from('done')), stream.subarray(0, 6)]);
    assert.equal(collect(assembler, [chunk]).length, 1);
    chunk.fill(0xff);
    assert.deepEqual(collect(assembler, [Buffer.from(stream.subarray(6))]), [Buffer.from('mine').toString('hex')]);
  });

  for (const length of [0, 3, -1, 0x7fffffff, FRAME_BYTES_MAX - 3, -2147483648]) {
    it(`refuses a length of ${length} as soon as its four bytes are there (B37)`, () => {
      const word = Buffer.alloc(4);
      word.writeInt32BE(length);
      assert.throws(() => collect(new FrameAssembler(), [word]), ProtocolError);
      const slow = new FrameAssembler();
      assert.deepEqual(collect(slow, [word.subarray(0, 1), word.subarray(1, 3)]), []);
      assert.throws(() => collect(slow, [word.subarray(3)]), ProtocolError);
    });
  }

  it('B31 takes a frame of exactly 16 MiB with its length word', () => {
    const stream = frameOf(Buffer.alloc(FRAME_BYTES_MAX - 4));
    assert.equal(stream.length, 16_777_216);
    const assembler = new FrameAssembler();
    let bytes = 0;
    assembler.push(stream.subarray(0, 100_000), () => assert.fail());
    assembler.push(stream.subarray(100_000), (_, start, end) => (bytes = end - start));
    assert.equal(bytes, FRAME_BYTES_MAX - 4);
  });

  it('takes no memory for bytes that were announced only', () => {
    const word = Buffer.alloc(4);
    word.writeInt32BE(FRAME_BYTES_MAX - 4);
    const assembler = new FrameAssembler();
    collect(assembler, [word]);
    assert.equal(assembler.heldBytes, 4);
  });

  it('bounds what all connections hold together, and ends only the one that passes the bound', () => {
    const budget = new FrameBudget(100_000);
    const [first, second] = [new FrameAssembler(budget), new FrameAssembler(budget)];
    const part = frameOf(Buffer.alloc(90_000)).subarray(0, 60_000);
    collect(first, [part]);
    assert.throws(() => collect(second, [part]), /more than 100000 bytes/);
    second.release();
    assert.equal(budget.heldBytes, 60_000);
    assert.equal(collect(first, [Buffer.alloc(30_004)]).length, 1);
    assert.equal(budget.heldBytes, 0);
  });

  it('gives its bytes back when the connection ends mid-frame', () => {
    const budget = new FrameBudget(1000);
    const assembler = new FrameAssembler(budget);
    collect(assembler, [frameOf(Buffer.alloc(50)).subarray(0, 20)]);
    assert.equal(budget.heldBytes, 20);
    assembler.release();
    assert.equal(budget.heldBytes, 0);
    assert.deepEqual(collect(assembler, [frameOf(Buffer.from('next'))]), [Buffer.from('next').toString('hex')]);
  });
});
