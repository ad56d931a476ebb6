import { checkLimit, DEFAULT_LIMITS } from "../limits.ts";
import { exactParse } from "./exact-parser.ts";
import { fastParse } from "./fast-parse.ts";
import { utf8Text } from "./utf8-text.ts";
import type { JsonValue } from "./value.ts";

/** Highest value of {@link ParseJsonOptions.maxDepth}: the parsers recurse as deep as a text nests. */
const MAX_DEPTH = 1000;

/** Options of {@link parseJson}. */
export interface ParseJsonOptions {
  /** Deepest value allowed, the top value has depth 0; 1 to 1000, 256 when left out. */
  readonly maxDepth?: number | undefined;
}

/**
 * Parses one JSON text and refuses what JSON parsers disagree about.
 *
 * Stricter than `JSON.parse`: repeated member names (compared after unescaping), unpaired
 * surrogates, numbers beyond the range of a double, nesting beyond `maxDepth`, and blanks around a
 * top-level number, boolean or null are refused. `__proto__` is an ordinary own member. A number too
 * small for a double becomes 0. Takes time linear in the text, whatever it holds.
 *
 * @param text The text, or its UTF-8 bytes. A byte order mark is a syntax error.
 * @param options The depth limit.
 * @returns The value; as in `JSON.parse`, names that are array indices come first in an object.
 * @throws {SluiceError} With a {@link JsonErrorCode}; `data.offset` counts bytes of the UTF-8 text and
 *   `data.path` is an RFC 6901 pointer to the value concerned, cut when over-long. `invalid_utf8` comes
 *   before all others and has an empty path. Then the first `syntax`, `duplicate_key`, `depth` or
 *   `trailing` fault counts, and in a text without those the first `number_range` or `lone_surrogate`.
 * @throws {TypeError} When the text is neither a string nor a Uint8Array.
 * @throws {RangeError} When `maxDepth` is out of its bounds.
 */
export function parseJson(text: string | Uint8Array, options?: ParseJsonOptions): JsonValue {
  const maxDepth = checkDepth(options?.maxDepth);
  if (typeof text === "string") return parseText(text, maxDepth);
  if (text instanceof Uint8Array) return parseWellFormed(utf8Text(text), maxDepth);
  throw new TypeError("parseJson() needs a string or a Uint8Array");
}

/** Checks a depth limit and fills in the default. */
export function checkDepth(maxDepth: number | undefined): number {
  return maxDepth === undefined
    ? DEFAULT_LIMITS.jsonDepth
    : checkLimit("maxDepth", maxDepth, MAX_DEPTH);
}

/** {@link parseJson} of a string, with a depth limit that was checked before. */
export function parseText(text: string, maxDepth: number): JsonValue {
  return text.isWellFormed() ? parseWellFormed(text, maxDepth) : exactParse(text, maxDepth);
}

/** {@link parseText} of a string without unpaired surrogates, such as decoded UTF-8. */
export function parseWellFormed(text: string, maxDepth: number): JsonValue {
  const value = fastParse(text, maxDepth);
  return value === undefined ? exactParse(text, maxDepth) : value;
}
