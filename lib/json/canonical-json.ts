import { arrange } from "./arrange.ts";
import { refuseLoneSurrogate } from "./lone-surrogate.ts";
import { sortedText } from "./sorted-text.ts";

/**
 * Writes a value as canonical JSON text (RFC 8785): members sorted by UTF-16 code units, numbers the
 * ECMAScript way, `-0` as 0, the fewest escapes, no blanks.
 *
 * Takes strings, finite numbers, booleans, null, arrays, plain objects (prototype `Object.prototype`
 * or null), {@link RawJson}, and objects with a `toJSON` method, such as `Date`. Members that are
 * undefined are left out. Takes time in O(n log n).
 *
 * @param value The value; it is not changed.
 * @throws {SluiceError} `unencodable`, with `data.path` (an RFC 6901 pointer) and `data.reason` (an
 *   {@link UnencodableReason}), when something in it has no JSON text; or the parse error of a
 *   {@link RawJson}.
 */
export function canonicalJson(value: unknown): string {
  const { tree, plainOrder } = arrange(value);
  const text = plainOrder ? JSON.stringify(tree) : sortedText(tree);
  // Engines write an unpaired surrogate as an escape, which canonical text never holds otherwise.
  const escape = text.indexOf("\\");
  if (escape !== -1 && text.includes("\\ud", escape)) refuseLoneSurrogate(tree);
  return text;
}

/** {@link canonicalJson} as UTF-8 bytes. */
export function canonicalBytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(canonicalJson(value));
}
