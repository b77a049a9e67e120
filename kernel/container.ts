import 'reflect-metadata';
import { container as globalContainer, type DependencyContainer, type InjectionToken } from 'tsyringe';

/** Decorators from here, so that reflect-metadata is there before tsyringe, whatever file is loaded first. */
export { inject, injectable, injectAll, Lifecycle } from 'tsyringe';

/** A container of its own for every kernel: the only use of tsyringe's global one, so that two kernels share nothing. */
export function createRootContainer(): DependencyContainer {
  return globalContainer.createChildContainer();
}

/** Everything registered for a token, in order; empty when there is nothing (tsyringe's `resolveAll` would throw). */
export function all<T>(container: DependencyContainer, token: InjectionToken<T>): T[] {
  return container.isRegistered(token, true) ? container.resolveAll(token) : [];
}

/** What a token is called in errors and in the boot tree. */
export function tokenName(token: InjectionToken): string {
  if (typeof token === 'symbol') return token.description ?? 'unnamed symbol';
  if (typeof token === 'string') return token;
  return 'name' in token && typeof token.name === 'string' && token.name !== '' ? token.name : 'unnamed token';
}
