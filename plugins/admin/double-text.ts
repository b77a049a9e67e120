/** As Java prints a double of ordinary size. */
export function doubleText(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
