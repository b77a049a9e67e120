import assert from 'node:assert/strict';
import { declarations, optionGroups } from '../../config/options.js';
import { formatValue, parseValue } from '../../config/parse.js';

describe('config/options', () => {
  it('declares every name once', () => {
    const names = optionGroups.flatMap((group) => group.list.map((declaration) => declaration.name));
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  });

  it('has names that environment variables can tell apart', () => {
    const plain = [...declarations.keys()].map((name) => name.toLowerCase());
    assert.equal(new Set(plain).size, plain.length);
  });

  it('says why each exists and what a number counts', () => {
    for (const { name, reason, accepted, kind, unit } of declarations.values()) {
      assert.ok(reason.length > 5, name);
      if (kind === 'integer' && accepted === undefined && name !== 'brokerId') assert.ok(unit, `${name} needs a unit`);
    }
  });

  it('has defaults that its own limits allow, and that survive being written and read', () => {
    for (const declaration of declarations.values()) {
      const written = formatValue(declaration.default);
      assert.deepEqual(parseValue(declaration, written, 'default'), declaration.default, declaration.name);
    }
  });
});
