import fc from "fast-check";
import { expect, test } from "vitest";
import { printable } from "../../adapters/cli/printable.ts";

test("printable() leaves plain text, tabs and other scripts as they are", () => {
  const text = "a\tb — ünïcode 日本語 👩‍👩‍👧 \u05d0";
  expect(printable(text)).toBe(text);
});

test("printable() shows what could act on a terminal", () => {
  expect(printable("\u001b[2J\r\n\u0000\u007f\u009b\u2028\u202e\u2066\ufeff\ud800!")).toBe(
    String.raw`\u001b[2J\u000d\u000a\u0000\u007f\u009b\u2028\u202e\u2066\ufeff\ud800!`,
  );
});

test("printable() keeps the value of a JSON text", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
      const text = JSON.stringify(value);
      expect(JSON.parse(printable(text))).toStrictEqual(JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});
