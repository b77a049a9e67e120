import assert from 'node:assert/strict';
import { connect, createServer, type AddressInfo } from 'node:net';
import { decodeCommand, encodeRequest, encodeResponse, Serialize } from '../../../protocol/command.js';
import { FrameAssembler } from '../../../protocol/frame.js';
import { Recorder, startProxy } from '../../golden/capture/proxy.js';
import { until } from '../../support/until.js';

describe('golden capture proxy', () => {
  it('records one frame of each sort and rewrites what the target says', async () => {
    const target = createServer((socket) => {
      const assembler = new FrameAssembler();
      socket.on('data', (chunk: Buffer) =>
        assembler.push(chunk, (buffer, start, end) => {
          const request = decodeCommand(buffer, start, end);
          socket.write(encodeResponse(request, { code: 0, body: Buffer.from('at :11111') }));
        }),
      );
    }).listen(0, '127.0.0.1');
    await until(() => target.listening, 'the target listens');
    const recorder = new Recorder();
    const targetPort = (target.address() as AddressInfo).port;
    const proxy = startProxy({ listenPort: 0, targetPort, name: 'namesrv', rewrite: [':11111', ':22222'] }, recorder);
    await until(() => proxy.listening, 'the proxy listens');
    const socket = connect((proxy.address() as AddressInfo).port, '127.0.0.1');
    const answers: string[] = [];
    const assembler = new FrameAssembler();
    socket.on('data', (chunk: Buffer) =>
      assembler.push(chunk, (buffer, start, end) => answers.push(decodeCommand(buffer, start, end).body.toString())),
    );
    for (const opaque of [1, 2]) socket.write(encodeRequest({ code: 105, opaque, serialize: Serialize.ROCKETMQ }));
    await until(() => answers.length === 2, 'two answers');
    socket.destroy();
    proxy.close();
    target.close();
    assert.deepEqual(answers, ['at :22222', 'at :22222']);
    assert.deepEqual(
      recorder.frames().map(({ way, kind, code, answered, serialize }) => [way, kind, code, answered, serialize]),
      [
        ['peer>namesrv', 'request', 105, undefined, 'ROCKETMQ'],
        ['namesrv>peer', 'answer', 105, 0, 'ROCKETMQ'],
      ],
    );
    assert.match(Buffer.from(recorder.frames()[1]!.hex, 'hex').toString(), /at :11111/);
  });
});
