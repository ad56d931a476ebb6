import { JsonErrorCode, jsonFault } from "./json-fault.ts";

// Stateless between calls, because it never streams. The BOM stays, and is a syntax error later.
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes a whole UTF-8 text and keeps a byte order mark.
 *
 * @throws {SluiceError} `invalid_utf8`, with the offset of the first ill-formed sequence.
 */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return DECODER.decode(bytes);
  } catch (cause) {
    const offset = illFormedOffset(bytes);
    if (offset < 0) throw cause;
    throw jsonFault(JsonErrorCode.InvalidUtf8, { offset, path: [] });
  }
}

/** Offset of the first ill-formed sequence, or -1. */
function illFormedOffset(bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return -1;
}

/** Length of the well-formed sequence at an offset, 0 when it is ill-formed (Unicode table 3-7). */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (!within(bytes[at + 1], low, high)) return 0;
  for (let next = 2; next < length; next++) {
    if (!within(bytes[at + next], 0x80, 0xbf)) return 0;
  }
  return length;
}

function within(byte: number | undefined, low: number, high: number): boolean {
  return byte !== undefined && byte >= low && byte <= high;
}
