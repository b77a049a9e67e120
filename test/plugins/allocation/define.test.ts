import assert from 'node:assert/strict';
import { averagelyRule } from '../../../plugins/allocation/averagely/rule.js';
import { defineAllocation, type AllocationRule } from '../../../plugins/allocation/contract.js';

describe('defineAllocation', () => {
  it('takes a rule, which has no options', () => {
    const plugin = defineAllocation('mine', averagelyRule);
    assert.deepEqual([plugin.kind, plugin.name], ['allocation', 'mine']);
    assert.equal(plugin.create(''), averagelyRule);
    assert.throws(() => plugin.create('5'), new RangeError('mine takes no options'));
  });

  it('takes a function that makes a rule of options', () => {
    const plugin = defineAllocation('mine', (options) => ({ ...averagelyRule, name: `MINE-${options}` }));
    assert.equal(plugin.create('5').name, 'MINE-5');
  });

  it('names what a plain JavaScript author forgot', () => {
    assert.throws(() => defineAllocation('', averagelyRule), /name must be/);
    assert.throws(() => defineAllocation('mine', {} as AllocationRule), /mine.*rule\.name/);
    assert.throws(() => defineAllocation('mine', { name: 'MINE' } as AllocationRule), /mine.*rule\.allocate/);
    assert.throws(() => defineAllocation('mine', undefined as unknown as AllocationRule), /mine.*rule\.name/);
    assert.throws(() => defineAllocation('mine', () => ({}) as AllocationRule).create(''), /mine.*rule\.name/);
  });
});
