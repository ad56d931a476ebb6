/**
 * Checks a time in milliseconds for which 0 means none.
 *
 * @throws {RangeError} When it is negative or not finite.
 */
export function checkDelay(name: string, value: number): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw new RangeError(`${name} must be 0 or more milliseconds, got ${String(value)}`);
}
