/** Both keep a leading U+FEFF; the replacement character stands for what is not UTF-8. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Decodes UTF-8 strictly and keeps a byte order mark as a character.
 *
 * The lossy decoder is several times faster than the fatal one on two of the runtimes, so validity
 * is looked at only when a replacement character came out.
 *
 * @returns The text, or undefined when the bytes are not valid UTF-8.
 */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  const text = decoder.decode(bytes);
  return text.includes("\ufffd") && firstInvalidUtf8(bytes) !== -1 ? undefined : text;
}

/** Decodes UTF-8, with U+FFFD for what is not valid; keeps a byte order mark. */
export function decodeUtf8Lossy(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/**
 * Finds the first byte that does not begin a valid UTF-8 sequence where one must begin.
 *
 * @returns Its index, or -1 when all is valid. A sequence that is cut or broken counts from its first byte.
 */
export function firstInvalidUtf8(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    if (bytes[at]! < 0x80) {
      at += 1;
      continue;
    }
    const size = sequenceSize(bytes, at);
    if (size === 0) return at;
    at += size;
  }
  return -1;
}

/** Size of the valid sequence of two to four bytes at `at`, or 0. */
function sequenceSize(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (at + size > bytes.length) return 0;
  // No overlong forms, no surrogates, nothing above U+10FFFF: all of it shows in the second byte.
  const second = bytes[at + 1]!;
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < lowest || second > highest) return 0;
  for (let k = at + 2; k < at + size; k += 1) {
    if ((bytes[k]! & 0xc0) !== 0x80) return 0;
  }
  return size;
}
