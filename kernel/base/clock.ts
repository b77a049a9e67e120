/** Time comes in by constructor. Wall time is for stored timestamps only; every expiry and timeout is monotonic. */
export interface Clock {
  /** Milliseconds since the epoch; may step in both directions. */
  wallMs(): number;
  /** Milliseconds of a clock that never goes back; its zero means nothing. Comparable between threads of a process. */
  monoMs(): number;
}

/** Each thread's `performance.now()` has a zero of its own; hrtime is shared by the process. */
const threadOffsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monoMs: () => performance.now() + threadOffsetMs,
};

/** Hour of the day in local time, 0 to 23. */
export function localHour(wallMs: number): number {
  return new Date(wallMs).getHours();
}

/** Days since the epoch in local time: two moments are on the same calendar day when theirs are equal. */
export function localDay(wallMs: number): number {
  return Math.floor((wallMs - new Date(wallMs).getTimezoneOffset() * 60_000) / 86_400_000);
}
