import assert from 'node:assert/strict';
import { deflateSync, inflateSync } from 'node:zlib';
import {
  decodeRegisterBrokerBody,
  encodeRegisterBrokerBody,
  INFLATED_BYTES_MAX,
} from '../../../protocol/bodies/register-broker.js';
import { decodeCommand } from '../../../protocol/command.js';
import { ProtocolError } from '../../../protocol/errors.js';
import { decodeRegisterBroker } from '../../../protocol/headers/register-broker.js';
import { crc32 } from '../../../protocol/message/crc.js';
import { golden, type CapturedFrame } from '../../golden/load.js';

interface Sample {
  readonly name: string;
  readonly text?: string;
  readonly hex?: string;
  readonly crc32?: number;
}

describe('protocol/bodies/register-broker', () => {
  const samples = golden<Sample[]>('bodies.json');
  const compressed = samples.find(({ name }) => name === 'RegisterBrokerBody compressed')!;
  const bytes = Buffer.from(compressed.hex!, 'hex');
  const retry = {
    topicName: '%RETRY%G',
    readQueueNums: 1,
    writeQueueNums: 1,
    perm: 6,
    topicFilterType: 'MULTI_TAG' as const,
    topicSysFlag: 2,
    order: true,
  };

  it('reads the compressed form of the real broker, which leaves out flag and order', () => {
    const body = decodeRegisterBrokerBody(bytes, true);
    assert.deepEqual(body.topicConfigSerializeWrapper.dataVersion, { timestamp: 1700000000123, counter: 7 });
    assert.deepEqual([...body.topicConfigSerializeWrapper.topicConfigTable.keys()], ['T', '%RETRY%G']);
    assert.deepEqual(body.topicConfigSerializeWrapper.topicConfigTable.get('%RETRY%G'), {
      ...retry,
      topicSysFlag: 0,
      order: false,
    });
    assert.deepEqual(body.filterServerList, ['10.0.0.1:1', '10.0.0.2:2']);
  });

  it('writes what inflates to the same bytes (the stream itself is up to the zlib at hand), with the same checksum', () => {
    const again = encodeRegisterBrokerBody(decodeRegisterBrokerBody(bytes, true), true);
    assert.equal(inflateSync(again).toString('hex'), inflateSync(bytes).toString('hex'));
    assert.equal(crc32(bytes), compressed.crc32);
  });

  it('keeps flag and order in the plain form', () => {
    const text = samples.find(({ name }) => name === 'RegisterBrokerBody')!.text!;
    const { topicConfigTable } = decodeRegisterBrokerBody(Buffer.from(text), false).topicConfigSerializeWrapper;
    assert.deepEqual(topicConfigTable.get('%RETRY%G'), retry);
  });

  it('reads the registrations that a real broker sent', () => {
    const frames = golden<CapturedFrame[]>('frames.json').filter(
      ({ kind, code }) => kind === 'request' && code === 103,
    );
    const forms = frames.map(({ hex }) => {
      const frame = Buffer.from(hex, 'hex');
      const command = decodeCommand(frame, 4, frame.length);
      const header = decodeRegisterBroker(command.ext);
      assert.equal(crc32(command.body), header.bodyCrc32);
      const body = decodeRegisterBrokerBody(command.body, header.compressed);
      assert.ok(body.topicConfigSerializeWrapper.topicConfigTable.has('TBW102'));
      const again = encodeRegisterBrokerBody(body, header.compressed);
      const plain = (bytes: Buffer): string => (header.compressed ? inflateSync(bytes) : bytes).toString('hex');
      assert.equal(plain(again), plain(command.body));
      return header.compressed;
    });
    assert.deepEqual(forms.sort(), [false, true]);
  });

  it('refuses a body that inflates beyond its bound', () => {
    const bomb = deflateSync(Buffer.alloc(INFLATED_BYTES_MAX + 1));
    assert.ok(bomb.length < 20_000);
    assert.throws(() => decodeRegisterBrokerBody(bomb, true), /does not inflate/);
  });

  it('refuses what is cut, of another shape or has impossible lengths', () => {
    const wrong = (parts: readonly (number | string)[]): Buffer =>
      deflateSync(
        Buffer.concat(
          parts.map((part) => {
            if (typeof part === 'string') return Buffer.from(part);
            const word = Buffer.alloc(4);
            word.writeInt32BE(part);
            return word;
          }),
        ),
      );
    const version = '{"counter":1,"timestamp":2}';
    const bodies = [
      bytes.subarray(0, 60),
      Buffer.from('no zlib'),
      wrong([]),
      wrong([-1]),
      wrong([0x7fffffff, version]),
      wrong([version.length, version, 1]),
      wrong([version.length, version, 0x7fffffff]),
      wrong([version.length, version, 1, 12, 'T 8 8 6 OTHER', 2, '[]']),
      wrong([version.length, version, 1, 7, 'T 8 8 6', 2, '[]']),
      wrong([version.length, version, 0, 2, '{}']),
    ];
    for (const body of bodies) assert.throws(() => decodeRegisterBrokerBody(body, true), ProtocolError);
    for (const text of ['', 'null', '[]', '{}', '{"topicConfigSerializeWrapper":5}']) {
      assert.throws(() => decodeRegisterBrokerBody(Buffer.from(text), false), ProtocolError);
    }
  });
});
