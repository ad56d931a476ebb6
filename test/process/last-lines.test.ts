import * as fc from "fast-check";
import { expect, test } from "vitest";
import { lastLines } from "../../lib/process/last-lines.ts";

const size = (text: string): number => new TextEncoder().encode(text).length;

test("lastLines() gives a text that fits as it is", () => {
  expect(lastLines("a\nb\n", 4)).toBe("a\nb\n");
  expect(lastLines("", 4)).toBe("");
});

test("lastLines() cuts at a line border", () => {
  expect(lastLines("first\nsecond\nthird\n", 14)).toBe("second\nthird\n");
  expect(lastLines("first\nsecond\nthird\n", 12)).toBe("third\n");
});

test("lastLines() cuts a single line between two characters", () => {
  expect(lastLines("äöü", 3)).toBe("ü");
  expect(lastLines("a😀😀", 5)).toBe("😀");
});

test("lastLines() gives a suffix of at most maxBytes bytes", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "\n", "é", "漢", "😀"), maxLength: 60 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 80 }), (whole, maxBytes) => {
      const part = lastLines(whole, maxBytes);
      expect(size(part)).toBeLessThanOrEqual(maxBytes);
      expect(whole.endsWith(part)).toBe(true);
      if (size(whole) <= maxBytes) expect(part).toBe(whole);
    }),
    { numRuns: 500 },
  );
});
