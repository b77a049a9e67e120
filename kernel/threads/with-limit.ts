/** The promise, or the error that `late` makes once `limitMs` have passed. The work behind the promise goes on. */
export async function withLimit<T>(
  work: PromiseLike<T>,
  limitMs: number,
  late: (limitMs: number) => Error,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late(limitMs)), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
