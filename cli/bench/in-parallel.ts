/** Does the work for 0 … count - 1, so many at a time; ends with the first failure, after those under way. */
export async function inParallel(count: number, atOnce: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      try {
        await work(next++);
      } catch (error) {
        next = count;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(count, atOnce) }, worker));
  const failed = ended.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
