import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeUtf8, decodeUtf8Lossy, firstInvalidUtf8 } from "../../lib/bytes/utf8.ts";
import { firstBad, strict } from "../frames/slow-lines.ts";

/** Bytes that lie on the borders of the UTF-8 tables. */
const EDGES = [
  0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec,
  0xed,
];
const MORE_EDGES = [0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff, 0xbb, 0xbd];
const edge = fc.constantFrom(...EDGES, ...MORE_EDGES);

test("firstInvalidUtf8() finds the end of the longest valid prefix, for bytes on the table borders", () => {
  fc.assert(
    fc.property(fc.array(edge, { maxLength: 12 }), (bytes) => {
      const expected = strict(bytes) === undefined ? firstBad(bytes) : -1;
      expect(firstInvalidUtf8(Uint8Array.from(bytes))).toBe(expected);
    }),
    { numRuns: 5000 },
  );
});

test("decodeUtf8() agrees with the fatal TextDecoder on every sequence of two bytes and on many of three", () => {
  for (let a = 0x80; a < 0x100; a += 1) {
    for (let b = 0; b < 0x100; b += 1) {
      const bytes = Uint8Array.of(a, b, 0xbf);
      const pair = bytes.subarray(0, 2);
      if (decodeUtf8(pair) !== strict(pair)) expect.unreachable(`${a} ${b}`);
      if (decodeUtf8(bytes) !== strict(bytes)) expect.unreachable(`${a} ${b} 191`);
    }
  }
});

test("decodeUtf8() returns text as it is, with a byte order mark and with U+FFFD in it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("a", "é", "漢", "😀", "\ufeff", "\ufffd", "\u2028", "\0")),
      (parts) => {
        const text = parts.join("");
        expect(decodeUtf8(new TextEncoder().encode(text))).toBe(text);
      },
    ),
  );
});

test("decodeUtf8Lossy() puts U+FFFD for bad bytes and keeps a byte order mark", () => {
  expect(decodeUtf8Lossy(Uint8Array.of(0xef, 0xbb, 0xbf, 0x41, 0xff))).toBe("\ufeffA\ufffd");
});
