import assert from 'node:assert/strict';
import { KernelError } from '../../kernel/base/errors.js';
import { formatTree, orderPlugins } from '../../kernel/plugin-tree.js';
import type { PluginManifest } from '../../kernel/plugin.js';

function manifest(name: string, ...needs: string[]): PluginManifest {
  return { name, needs, provides: [], setup: () => undefined };
}

function order(...manifests: PluginManifest[]): string[] {
  return orderPlugins(manifests).map(({ name }) => name);
}

function failure(work: () => unknown): KernelError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof KernelError);
    return error;
  }
  throw new assert.AssertionError({ message: 'nothing was thrown' });
}

describe('plugin order', () => {
  it('keeps the given order where needs allow it', () => {
    assert.deepEqual(order(manifest('c'), manifest('a'), manifest('b')), ['c', 'a', 'b']);
  });

  it('moves needs before the plugin that needs them, and only those', () => {
    const manifests = [
      manifest('pull', 'reput', 'topics'),
      manifest('acl'),
      manifest('topics'),
      manifest('reput', 'topics'),
    ];
    assert.deepEqual(order(...manifests), ['topics', 'reput', 'pull', 'acl']);
  });

  it('starts a plugin that two others need once', () => {
    assert.deepEqual(
      order(manifest('top', 'left', 'right'), manifest('left', 'base'), manifest('right', 'base'), manifest('base')),
      ['base', 'left', 'right', 'top'],
    );
  });

  it('names a missing need and who needs it', () => {
    const error = failure(() => order(manifest('send', 'commitlog')));
    assert.equal(error.code, 'PLUGIN_MISSING');
    assert.equal(error.message, "plugin 'send' needs 'commitlog', which is not in the list");
  });

  it('prints the circle, without the way to it', () => {
    const error = failure(() => order(manifest('x', 'a'), manifest('a', 'b'), manifest('b', 'c'), manifest('c', 'a')));
    assert.equal(error.code, 'PLUGIN_CIRCULAR');
    assert.equal(error.message, 'plugins need each other in a circle: a -> b -> c -> a');
    assert.match(failure(() => order(manifest('self', 'self'))).message, /self -> self/);
  });

  it('names a duplicate', () => {
    const error = failure(() => order(manifest('a'), manifest('a')));
    assert.equal(error.code, 'PLUGIN_DUPLICATE');
    assert.match(error.message, /'a'/);
  });

  it('names what is wrong in a manifest from plain JavaScript', () => {
    const broken: [unknown, RegExp][] = [
      [null, /without a name: the manifest is not an object/],
      [{ needs: [], provides: [], setup: () => undefined }, /without a name: name/],
      [{ ...manifest('a'), needs: 'b' }, /'a': needs/],
      [{ ...manifest('a'), provides: undefined }, /'a': provides/],
      [{ ...manifest('a'), setup: undefined }, /'a': setup/],
      [{ ...manifest('a'), main: {} }, /'a': main/],
    ];
    for (const [bad, message] of broken) {
      const error = failure(() => orderPlugins([bad as PluginManifest]));
      assert.equal(error.code, 'PLUGIN_INVALID');
      assert.match(error.message, message);
    }
  });
});

describe('boot tree', () => {
  it('shows name, milliseconds, needs and provides of each plugin', () => {
    const topics = { ...manifest('topics'), provides: [Symbol('TopicConfigs')] };
    const text = formatTree(
      [
        { manifest: topics, setupMs: 1, startMs: 2.04, openMs: 0 },
        { manifest: manifest('remoting', 'topics'), setupMs: 0, startMs: 0, openMs: 7 },
      ],
      12.3,
    );
    assert.deepEqual(text.split('\n'), [
      'kernel 12.3 ms',
      '├── topics       3.0 ms  provides TopicConfigs',
      '└── remoting     0.0 ms  open 7.0 ms  needs topics',
    ]);
  });
});
