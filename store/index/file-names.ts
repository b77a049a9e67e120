/** A file's name is the local time at which it was made: yyyyMMddHHmmssSSS (4.9: UtilAll#timeMillisToHumanString). */
export function indexFileName(wallMs: number): string {
  const at = new Date(wallMs);
  const parts = [at.getMonth() + 1, at.getDate(), at.getHours(), at.getMinutes(), at.getSeconds()];
  return join(at.getFullYear(), parts, at.getMilliseconds());
}

export function isIndexFileName(name: string): boolean {
  return /^\d{17}$/.test(name);
}

/** A name for a file made now that sorts behind `last`, also when the clock went back or two are made in one millisecond. */
export function nextIndexFileName(wallMs: number, last: string | undefined): string {
  const now = indexFileName(wallMs);
  return last === undefined || now > last ? now : oneLater(last);
}

/** One millisecond later on a calendar without daylight saving, on which names only grow. */
function oneLater(name: string): string {
  const [year, month, day, hour, minute, second, ms] = [4, 2, 2, 2, 2, 2, 3].map((length, index, lengths) => {
    const from = lengths.slice(0, index).reduce((sum, each) => sum + each, 0);
    return Number(name.slice(from, from + length));
  });
  const at = new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second, (ms ?? 0) + 1));
  const parts = [at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()];
  return join(at.getUTCFullYear(), parts, at.getUTCMilliseconds());
}

function join(year: number, parts: readonly number[], ms: number): string {
  const two = parts.map((part) => String(part).padStart(2, '0')).join('');
  return `${String(year).padStart(4, '0')}${two}${String(ms).padStart(3, '0')}`;
}
