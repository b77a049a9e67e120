import assert from 'node:assert/strict';
import { ProtocolError } from '../../../protocol/errors.js';
import { addressBytes, addressText, hostText } from '../../../protocol/message/host.js';

describe('B33 protocol/message/host', () => {
  for (const [address, hex, text] of [
    ['10.1.2.255', '0a0102ff', '10.1.2.255'],
    ['::1', '00000000000000000000000000000001', '0:0:0:0:0:0:0:1'],
    ['::', '00000000000000000000000000000000', '0:0:0:0:0:0:0:0'],
    ['2001:db8::ff', '20010db80000000000000000000000ff', '2001:db8:0:0:0:0:0:ff'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008', '1:2:3:4:5:6:7:8'],
    ['fe80::1%eth0', 'fe800000000000000000000000000001', 'fe80:0:0:0:0:0:0:1'],
    ['::ffff:127.0.0.1', '7f000001', '127.0.0.1'],
    ['::ffff:7f00:1', '7f000001', '127.0.0.1'],
    ['64:ff9b::1.2.3.4', '0064ff9b000000000000000001020304', '64:ff9b:0:0:0:0:102:304'],
  ] as const) {
    it(`reads ${address}`, () => {
      assert.equal(addressBytes(address).toString('hex'), hex);
      assert.equal(addressText(addressBytes(address)), text);
    });
  }

  for (const address of [
    '',
    'x',
    '1.2.3',
    '1.2.3.256',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '12345::',
    '::g',
  ]) {
    it(`refuses ${address || 'nothing'}`, () => {
      assert.throws(() => addressBytes(address), ProtocolError);
    });
  }

  it('prints hosts with their port', () => {
    assert.equal(hostText(Buffer.from([10, 0, 0, 1]), 10911), '10.0.0.1:10911');
    assert.equal(hostText(addressBytes('::1'), 1), '[0:0:0:0:0:0:0:1]:1');
  });
});
