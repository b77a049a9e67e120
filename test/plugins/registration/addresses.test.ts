import assert from 'node:assert/strict';
import { KernelError } from '../../../kernel/base/errors.js';
import { hostPort, parseNamesrvAddr } from '../../../plugins/registration/addresses.js';

describe('plugins/registration: namesrvAddr', () => {
  it('holds several servers, names, IPv4 and IPv6', () => {
    assert.deepEqual(parseNamesrvAddr(' a.example:9876; 10.0.0.1:1 ;[::1]:2;fe80::1:3;'), [
      { host: 'a.example', port: 9876 },
      { host: '10.0.0.1', port: 1 },
      { host: '::1', port: 2 },
      { host: 'fe80::1', port: 3 },
    ]);
    assert.deepEqual(parseNamesrvAddr(''), []);
    assert.equal(hostPort('::1', 2), '[::1]:2');
  });

  for (const text of ['a', 'a:', ':1', 'a:b', 'a:70000', 'a:0', 'a:1;b', 'x:y:1']) {
    it(`refuses ${text}, naming it`, () => {
      assert.throws(
        () => parseNamesrvAddr(text),
        (error) => error instanceof KernelError && /namesrvAddr/.test(error.message) && error.exitCode === 2,
      );
    });
  }

  it('has port 0 only for an own name server', () => {
    assert.deepEqual(parseNamesrvAddr('127.0.0.1:0', true), [{ host: '127.0.0.1', port: 0 }]);
  });

  it('has a bound', () => {
    assert.throws(() => parseNamesrvAddr('a:1;'.repeat(33)), /33 servers/);
  });
});
