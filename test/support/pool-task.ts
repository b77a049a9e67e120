import { parentPort, threadId } from 'node:worker_threads';

export interface TaskArgs {
  readonly kind: 'thread' | 'fail' | 'length' | 'untilSet' | 'forever';
  readonly bytes?: ArrayBuffer;
  readonly word?: SharedArrayBuffer;
}

/** A task for the pool's tests. */
export default async function task({ kind, bytes, word }: TaskArgs): Promise<number> {
  if (kind === 'fail') throw new TypeError('the task failed');
  if (kind === 'length') return bytes?.byteLength ?? -1;
  if (kind === 'untilSet' && word !== undefined) Atomics.wait(new Int32Array(word), 0, 0, 10_000);
  if (kind === 'forever') await new Promise((resolve) => parentPort?.once('no such event', resolve));
  return threadId;
}
