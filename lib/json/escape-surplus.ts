const COLON = 0x3a;
const LOWER_U = 0x75;
/** Begins an escape that stands for a surrogate. */
const SURROGATE_ESCAPE = /^\\u[dD][89a-fA-F]/;

/**
 * Counts the code units that the escapes of a JSON text take beyond what they stand for: 1 for `\n`,
 * 5 for `\u00e9`.
 *
 * @returns The count, or -1 for a text that `JSON.parse` cannot be trusted with: a member name has an
 *   escape (V8 can then return another name than the text's, nodejs/node#63785), or an escape stands
 *   for a surrogate. What it returns for a text that is not JSON has no meaning.
 */
export function escapeSurplus(text: string): number {
  let surplus = 0;
  let quote = -1;
  for (let at = text.indexOf("\\"); at !== -1;) {
    const long = text.charCodeAt(at + 1) === LOWER_U;
    if (long && SURROGATE_ESCAPE.test(text.slice(at, at + 4))) return -1;
    surplus += long ? 5 : 1;
    const after = at + (long ? 6 : 2);
    at = text.indexOf("\\", after);
    if (quote < after) quote = text.indexOf('"', after);
    if (quote === -1) return -1;
    if ((at === -1 || quote < at) && isNameEnd(text, quote)) return -1;
  }
  return surplus;
}

/** Tells whether the string that ends at a quote is a member's name: a colon follows. */
function isNameEnd(text: string, quote: number): boolean {
  let after = quote + 1;
  while (text.charCodeAt(after) <= 0x20) after++;
  return text.charCodeAt(after) === COLON;
}
