import assert from 'node:assert/strict';
import { isDeleteTime, parseDeleteWhen } from '../../../plugins/retention/delete-when.js';

describe('deleteWhen', () => {
  it('is one hour or several', () => {
    assert.deepEqual([...parseDeleteWhen('04')], [4]);
    assert.deepEqual([...parseDeleteWhen('4; 16;23 ;00')], [4, 16, 23, 0]);
  });

  for (const text of ['', '24', '-1', '4,16', '04;', 'four', '4.5', '004'])
    it(`refuses "${text}" and says how to write it`, () => {
      assert.throws(() => parseDeleteWhen(text), { code: 'DELETE_WHEN', exitCode: 2, remedy: /04;16/ });
    });

  it('lasts the whole hour, in local time', () => {
    const at = (hour: number, minute: number): number => new Date(2026, 5, 1, hour, minute).getTime();
    const hours = parseDeleteWhen('04;16');
    const when = [at(3, 59), at(4, 0), at(4, 59), at(5, 0), at(16, 30)];
    assert.deepEqual(
      when.map((wallMs) => isDeleteTime(hours, wallMs)),
      [false, true, true, false, true],
    );
  });
});
