/** Due times above this can be told from the hash of a tag, which is 32 bits wide: 2^31 ms after 1970 is a day of that January. */
const DUE_MIN = 2 ** 31;
/** The year 142,000: what is larger is no time, and would lose digits. */
const DUE_MAX = 2 ** 52;

/** When a message is due that says so in its property TIMER_OUT_MS, ms; undefined when that is no time. */
export function dueOfText(text: string): number | undefined {
  const due = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  return due >= 0 && due <= DUE_MAX ? due : undefined;
}

/**
 * Whether the tags code of a unit of the timer topic is its due time. It is not where another broker put the hash of a tag, nor when the time
 * looks like one: then the record says it.
 */
export function isDueTime(tagsCode: number): boolean {
  return tagsCode > DUE_MIN && tagsCode <= DUE_MAX;
}
