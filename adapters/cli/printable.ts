/**
 * What may move the cursor, change the terminal's state or the reading order: control characters,
 * line separators, bidirectional marks; and halves of characters. A tab does no harm.
 */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/**
 * Makes a text safe to print on a terminal: what could act on it is shown as `\u001b`.
 *
 * A JSON text stays the same JSON value.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) =>
    character === "\t" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
