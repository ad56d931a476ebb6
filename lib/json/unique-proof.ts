import type { JsonValue } from "./value.ts";

/** What is known of the text that a value was parsed from. */
export interface ParsedText {
  /** The text; no member name in it has an escape. */
  readonly text: string;
  /** Code units that its escapes take beyond what they stand for. */
  readonly surplus: number;
  /** Deepest value allowed; the top value has depth 0. */
  readonly maxDepth: number;
}

type Members = { readonly [name: string]: JsonValue };
type Container = readonly JsonValue[] | Members;
type Scalar = string | number | boolean | null;

/** Code units that a repeated member takes at least: `"":0` and a comma. */
const SHORTEST_MEMBER = 5;
/** Code units of the shortest spelling of any fraction, or of any whole number beyond 2^53. */
const SHORTEST_FRACTION = 3;

/**
 * Proves that `JSON.parse` dropped no repeated member of a text, that nothing is too deep, and that
 * every number is finite.
 *
 * Two proofs, the cheaper one first. By length, which fails for texts with blanks: if the text is not
 * even one member longer than the shortest text of the value, nothing was dropped. By colons: if no
 * more of them can belong to a name than the value has members, nothing was dropped.
 *
 * @returns False when neither holds; the text may be sound all the same.
 */
export function provesUnique(value: Container, parsed: ParsedText): boolean {
  // Names that every object inherits would be counted as members of each.
  for (const _ in Object.prototype) return false;
  const { text, maxDepth } = parsed;
  const spaced = text.charCodeAt(text.indexOf(":") + 1) <= 0x20;
  if (!spaced && text.length - parsed.surplus - shortestLength(value, maxDepth) < SHORTEST_MEMBER)
    return true;
  return countNameColons(text) === countMembers(value, maxDepth);
}

/**
 * Length of the shortest text of a container, escapes left out of account; NaN when something in it
 * is too deep or not finite.
 *
 * @param room How many levels there may be below the container.
 */
function shortestLength(container: Container, room: number): number {
  if (room < 0) return NaN;
  let length = 1;
  if (isArray(container)) {
    for (let index = 0; index < container.length; index++) {
      const child = container[index]!;
      length += 1 + (isScalar(child) ? shortestScalar(child) : shortestLength(child, room - 1));
    }
  } else {
    for (const name in container) {
      const child = container[name]!;
      length += name.length + 4;
      length += isScalar(child) ? shortestScalar(child) : shortestLength(child, room - 1);
    }
  }
  if (length === 1) return 2;
  return room === 0 ? NaN : length;
}

function shortestScalar(value: Scalar): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value === "number") return shortestNumber(value);
  return value === null || value ? 4 : 5;
}

function shortestNumber(value: number): number {
  if (value < 0) return 1 + shortestNumber(-value);
  if ((value | 0) !== value && !Number.isSafeInteger(value)) {
    return value === Infinity ? NaN : SHORTEST_FRACTION;
  }
  if (value < 1000) return value < 10 ? 1 : value < 100 ? 2 : 3;
  if (value % 1000 !== 0) return digitsOf(value);
  // An exponent, of at least two characters, can stand for three zeros or more.
  let rest = value / 1000;
  while (rest % 10 === 0) rest /= 10;
  return digitsOf(rest) + 2;
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let bound = 10; value >= bound; bound *= 10) digits++;
  return digits;
}

/** Counts all members of a container; NaN when something in it is too deep or not finite. */
function countMembers(container: Container, room: number): number {
  if (room < 0) return NaN;
  let count = 0;
  let children = 0;
  if (isArray(container)) {
    children = container.length;
    for (let index = 0; index < children; index++) count += membersOf(container[index]!, room - 1);
  } else {
    for (const name in container) {
      children++;
      count += membersOf(container[name]!, room - 1);
    }
    count += children;
  }
  return children > 0 && room === 0 ? NaN : count;
}

function membersOf(value: JsonValue, room: number): number {
  if (!isScalar(value)) return countMembers(value, room);
  return typeof value === "number" && !Number.isFinite(value) ? NaN : 0;
}

/**
 * Counts the colons that may follow a member's name: those after a quote that is not escaped. Inside
 * strings that is rare, and then the count is too high.
 */
function countNameColons(text: string): number {
  let count = 0;
  for (let at = text.indexOf(":"); at !== -1; at = text.indexOf(":", at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) <= 0x20) before--;
    if (text.charCodeAt(before) === 0x22 && text.charCodeAt(before - 1) !== 0x5c) count++;
  }
  return count;
}

function isScalar(value: JsonValue): value is Scalar {
  return typeof value !== "object" || value === null;
}

/** `Array.isArray` with the read-only type. */
function isArray(value: Container): value is readonly JsonValue[] {
  return Array.isArray(value);
}
