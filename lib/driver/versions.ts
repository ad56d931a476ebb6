import { ErrorClass } from "./contract/error-class.ts";
import { ProtocolError } from "./contract/protocol-error.ts";
import type { VersionRange } from "./contract/shared.ts";

/** Picks the version of a session from what both sides speak; undefined when they have none in common. */
export type SelectVersion = (own: VersionRange, theirs: VersionRange) => string | undefined;

const NUMERIC = /^\d{1,10}(\.\d{1,10}){0,3}$/;
const MAX_PART = 2 ** 31 - 1;

/**
 * The rule of host-v1 §2: the smaller of the two maxima, if it is not below the larger of the two minima.
 *
 * Versions are dotted numbers of at most four parts, each up to 2^31−1; missing parts are 0. Texts that
 * are not numeric are only accepted when all four are equal.
 *
 * @returns Undefined for no common version and for a reversed range.
 */
export const selectVersion: SelectVersion = (own, theirs) => {
  const texts = [own.minimum, own.maximum, theirs.minimum, theirs.maximum];
  if (texts.every((text) => text === texts[0]) && parts(own.minimum) === undefined)
    return own.minimum;
  if (texts.some((text) => parts(text) === undefined)) return undefined;
  if (compare(own.minimum, own.maximum) > 0 || compare(theirs.minimum, theirs.maximum) > 0)
    return undefined;
  const maximum = compare(own.maximum, theirs.maximum) <= 0 ? own.maximum : theirs.maximum;
  const minimum = compare(own.minimum, theirs.minimum) >= 0 ? own.minimum : theirs.minimum;
  return compare(maximum, minimum) >= 0 ? maximum : undefined;
};

/**
 * Agrees on a version or says why there is none.
 *
 * @throws {ProtocolError} `unsupported_rpc_version`.
 */
export function agreeVersion(
  own: VersionRange,
  theirs: VersionRange,
  select: SelectVersion = selectVersion,
): string {
  const version = select(own, theirs);
  if (version !== undefined) return version;
  throw new ProtocolError(
    ErrorClass.UnsupportedRpcVersion,
    `No common version: this side speaks ${show(own)}, the other ${show(theirs)}`,
    { data: { own, theirs } },
  );
}

function show({ minimum, maximum }: VersionRange): string {
  return `${minimum.slice(0, 40)} to ${maximum.slice(0, 40)}`;
}

function parts(version: string): number[] | undefined {
  if (!NUMERIC.test(version)) return undefined;
  const numbers = version.split(".").map(Number);
  return numbers.every((number) => number <= MAX_PART) ? numbers : undefined;
}

function compare(a: string, b: string): number {
  const left = parts(a)!;
  const right = parts(b)!;
  for (let index = 0; index < 4; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
