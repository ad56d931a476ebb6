import { escapeSurplus } from "./escape-surplus.ts";
import { provesUnique } from "./unique-proof.ts";
import type { JsonValue } from "./value.ts";

/** Longest text that goes to `JSON.parse` without a look at its nesting, in UTF-16 code units. */
const UNCHECKED_LENGTH = 64 * 1024;

/**
 * Parses a text with `JSON.parse` and proves that the result is what the strict rules give.
 *
 * @param text The whole text; it has no unpaired surrogates.
 * @param maxDepth Deepest value allowed; the top value has depth 0.
 * @returns The value, or undefined when there is no proof: the text is then for `exactParse`.
 */
export function fastParse(text: string, maxDepth: number): JsonValue | undefined {
  if (text.length > UNCHECKED_LENGTH && !nestsWithin(text, maxDepth + 1)) return undefined;
  const surplus = escapeSurplus(text);
  if (surplus < 0) return undefined;
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value === "object" && value !== null) {
    return provesUnique(value, { text, surplus, maxDepth }) ? value : undefined;
  }
  return typeof value === "string" || isBareScalar(text, value) ? value : undefined;
}

/** Engines take milliseconds for a text of brackets alone, which this finds after a few hundred. */
function nestsWithin(text: string, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) {
      at = stringEnd(text, at);
      if (at < 0) return true;
    } else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > limit) return false;
    } else if (unit === 0x5d || unit === 0x7d) {
      depth--;
    }
  }
  return true;
}

/** Index of the quote that ends the string begun at an index, or -1. */
function stringEnd(text: string, start: number): number {
  for (
    let quote = text.indexOf('"', start + 1);
    quote !== -1;
    quote = text.indexOf('"', quote + 1)
  ) {
    let before = quote;
    while (text.charCodeAt(before - 1) === 0x5c) before--;
    if ((quote - before) % 2 === 0) return quote;
  }
  return -1;
}

/** Tells whether a finite number, boolean or null has no blanks around it. */
function isBareScalar(text: string, value: JsonValue): boolean {
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  return first > 0x20 && last > 0x20 && (typeof value !== "number" || Number.isFinite(value));
}
