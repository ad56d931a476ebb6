import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodeLines, lines } from "../../lib/frames/mod.ts";
import { fuse } from "../../lib/stage/fuse.ts";
import { observe, recordingSink, type Seen } from "../stage/observe.ts";

const decode = (seen: Seen<Uint8Array>[]): unknown[] =>
  seen.map((s) =>
    "value" in s ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(s.value) : s,
  );

test("encodeLines() writes a batch as one chunk, each text ended by LF", () => {
  expect(decode(observe(encodeLines(), [["a", "", "\ufeffé😀\u2028"], ["b"]]))).toEqual([
    "a\n\n\ufeffé😀\u2028\n",
    "b\n",
  ]);
});

test("encodeLines() refuses a text with LF or CR in its place and writes the others", () => {
  expect(decode(observe(encodeLines(), [["a", "b\nc", "d", "e\r"], ["f"]]))).toEqual([
    "a\n",
    { fault: "multiline_text", data: { index: 1, excerpt: "b\nc" } },
    "d\n",
    { fault: "multiline_text", data: { index: 3, excerpt: "e\r" } },
    "f\n",
  ]);
});

test("encodeLines() refuses a lone surrogate", () => {
  const [fault] = observe(encodeLines(), [["x\ud83d"]]);
  expect(fault).toMatchObject({ fault: "lone_surrogate", data: { index: 0 } });
});

test("encodeLines() splits a large batch into chunks of about 64 KiB", () => {
  const sizes = observe(encodeLines(), [Array<string>(300).fill("x".repeat(999))]).map((s) =>
    "value" in s ? s.value.length : 0,
  );
  expect(sizes.length).toBeGreaterThan(3);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(66_000);
  expect(sizes.reduce((a, b) => a + b)).toBe(300_000);
});

test("encodeLines() stops when the sink closes at a fault", () => {
  const seen: Seen<Uint8Array>[] = [];
  const sink = recordingSink(seen);
  sink.fail = () => void (sink.open = false);
  encodeLines().push(["\n", "a"], sink);
  expect(seen).toEqual([]);
});

test("lines() gives back what encodeLines() wrote", () => {
  const text = fc.string({ unit: "binary" }).map((s) => s.replace(/[\r\n]/g, "").toWellFormed());
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      expect(observe(fuse(encodeLines(), lines()), [texts])).toEqual(
        texts.map((value) => ({ value })),
      );
    }),
  );
});
