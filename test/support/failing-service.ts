import { KernelError } from '../../kernel/base/errors.js';
import type { ServiceFactory } from '../../kernel/threads/service.js';

export interface FailingBoot {
  /** How the start fails: the factory throws, returns nonsense, ends the thread, or takes longer than any limit. */
  readonly how: 'throw' | 'nonsense' | 'exit' | 'block';
}

const create: ServiceFactory<FailingBoot> = ({ how }) => {
  if (how === 'throw')
    throw new KernelError('STORE_LOCKED', 'somebody else has the store', { remedy: 'stop the other broker' });
  if (how === 'exit') process.exit(7);
  if (how === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  return { nonsense: true } as never;
};
export default create;
