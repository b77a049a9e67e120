/** Ends with a named error when an invariant does not hold: an impossible state must stop the work, not spread. */
export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new AssertionError(what);
}

export class AssertionError extends Error {
  override readonly name = 'AssertionError';
  constructor(what: string) {
    super(`invariant broken: ${what}`);
  }
}
