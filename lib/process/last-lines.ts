const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Gives the end of a text in at most `maxBytes` of UTF-8.
 *
 * What is cut goes from the front, up to a line border; within the only line left, up to a character.
 */
export function lastLines(text: string, maxBytes: number): string {
  // A UTF-16 unit is at least one byte, so nothing before this suffix can fit.
  const suffix = text.slice(-maxBytes).replace(/^[\uDC00-\uDFFF]/, "");
  const bytes = encoder.encode(suffix);
  if (bytes.length <= maxBytes && suffix.length === text.length) return text;
  const tail = bytes.subarray(Math.max(0, bytes.length - maxBytes));
  return dropPartLine(decoder.decode(tail.subarray(leadingPart(tail))));
}

/** Drops what stands before the first line border, unless nothing follows it. */
export function dropPartLine(text: string): string {
  const border = text.indexOf("\n");
  return border === -1 || border === text.length - 1 ? text : text.slice(border + 1);
}

/** Counts the leading bytes that belong to a character whose start was cut away: at most 3. */
export function leadingPart(bytes: Uint8Array): number {
  const part = bytes.subarray(0, 3).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return part === -1 ? Math.min(3, bytes.length) : part;
}
