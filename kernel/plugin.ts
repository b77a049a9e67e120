import type { DependencyContainer, InjectionToken } from 'tsyringe';

/** A plugin's life. Every hook may be missing; each runs under a time limit and its plugin is named when it hangs. */
export interface PluginMain {
  /** In order of needs. What others need must work when this resolves. */
  start?(): void | Promise<void>;
  /** After every plugin has started: begin to face users (listen, register). */
  open?(): void | Promise<void>;
  /** First half of a stop, in reverse order: stop facing users, finish what is in flight. */
  close?(): void | Promise<void>;
  /** Second half of a stop, in reverse order: flush, release. */
  stop?(): void | Promise<void>;
}

export type PluginMainClass = new (...args: never[]) => PluginMain;

/** A manifest comes first: what a plugin is called, needs and provides is known before any of its code runs. */
export interface PluginManifest {
  readonly name: string;
  /** Names of plugins that must have started before this one. */
  readonly needs: readonly string[];
  /** Services that it will run on threads: these come up while the plugins before it start. */
  readonly services?: readonly string[];
  /** Tokens that `setup` registers and others may inject; checked after `setup`. */
  readonly provides: readonly InjectionToken[];
  /** Registers the plugin's classes in its own child container. Resolves nothing. */
  setup(container: DependencyContainer): void | Promise<void>;
  /** Resolved by the kernel after `setup`; its hooks are the plugin's life. */
  readonly main?: PluginMainClass;
}
