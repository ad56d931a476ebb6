import * as fc from "fast-check";
import { expect, test } from "vitest";
import { resolveLineRules, type LinesOptions } from "../../lib/frames/line-rules.ts";
import { lines } from "../../lib/frames/mod.ts";
import { cut, observe, recordingSink, type Seen } from "../stage/observe.ts";
import { slowLines } from "./slow-lines.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const run = (text: string, options?: LinesOptions): Seen<string>[] =>
  observe(lines(options), [[bytesOf(text)]]);
const values = (seen: Seen<string>[]): unknown[] => seen.map((s) => ("value" in s ? s.value : s));

const optionSets = fc.record({
  maxBytes: fc.constantFrom(1, 2, 3, 8, 250, 1 << 20),
  empty: fc.constantFrom("emit", "fault", "skip"),
  carriageReturn: fc.constantFrom("keep", "fault"),
  lastLine: fc.constantFrom("emit", "fault"),
});

/** Pieces that make lines of every kind: endings, stray CRs, runs around the bounds, good and bad UTF-8. */
const piece = fc.oneof(
  fc.constantFrom([10], [10], [10], [13, 10], [13], [13, 13, 10]),
  fc.constantFrom([0x61], [0x62, 0x63], [0xc3, 0xa9], [0xf0, 0x9f, 0x98, 0x80], [0xef, 0xbb, 0xbf]),
  fc.constantFrom(
    [0xef, 0xbf, 0xbd],
    [0xff],
    [0xc3],
    [0xf0, 0x9f],
    [0xed, 0xa0, 0x80],
    [0xe2, 0x80, 0xa8],
  ),
  fc
    .constantFrom(5, 6, 7, 8, 9, 10, 11, 248, 249, 250, 251, 252, 253, 254)
    .map((n) => Array<number>(n).fill(0x78)),
);
const input = fc.array(piece, { maxLength: 40 }).map((pieces) => Uint8Array.from(pieces.flat()));

test("lines() gives the values, faults, lines and offsets of a slow reference for any cut and all options", () => {
  fc.assert(
    fc.property(
      input,
      optionSets,
      fc.array(fc.nat(), { maxLength: 12 }),
      (bytes, options, places) => {
        const expected = slowLines(bytes, resolveLineRules(options));
        const chunks = cut(bytes, places);
        expect(observe(lines(options), [chunks])).toEqual(expected);
        expect(
          observe(
            lines(options),
            chunks.map((chunk) => [chunk]),
          ),
        ).toEqual(expected);
      },
    ),
    { numRuns: 1500 },
  );
});

test("lines() gives the reference result in chunks of one byte", () => {
  fc.assert(
    fc.property(input, optionSets, (bytes, options) => {
      const single = [...bytes].map((byte) => [Uint8Array.of(byte)]);
      expect(observe(lines(options), single)).toEqual(slowLines(bytes, resolveLineRules(options)));
    }),
    { numRuns: 300 },
  );
});

test.each([0, 1, 2, 3, 4])(
  "lines() judges lines of maxBytes + %i bytes alike in one chunk, carried and in bytes",
  (more) => {
    for (const maxBytes of [1, 8, 250]) {
      for (const ending of ["\n", "\r\n", "\r\r\n", ""]) {
        const bytes = bytesOf(`${"x".repeat(maxBytes + more)}${ending}`);
        const good = bytesOf(ending === "" ? "" : "ok\n");
        const all = Uint8Array.from([...bytes, ...good]);
        for (const carriageReturn of ["keep", "fault"] as const) {
          const options = { maxBytes: Math.max(maxBytes, 1), carriageReturn };
          const expected = slowLines(all, resolveLineRules(options));
          for (let at = 0; at <= all.length; at += 1)
            expect(observe(lines(options), [cut(all, [at])])).toEqual(expected);
        }
      }
    }
  },
);

test("lines() gives the reference result in chunks far larger than a region, with long lines and bad bytes among short ones", () => {
  const part = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.constantFrom("{}\n", "é\r\n", "\n", "a\rb\n", `${"x".repeat(900)}\n`),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(`${"y".repeat(70_000)}\n`, `${"é".repeat(40_000)}\n`),
    },
  );
  const repeated = fc
    .tuple(part, fc.nat(150))
    .map(([line, times]) => (line.length > 1000 ? line : line.repeat(times)));
  const text = fc
    .array(repeated, { minLength: 5, maxLength: 20 })
    .map((all) => bytesOf(all.join("")));
  const maxBytes = fc.constantFrom(1000, 70_000, 1 << 20);
  fc.assert(
    fc.property(text, maxBytes, optionSets, fc.nat(), (bytes, bound, options, bad) => {
      if (bad % 3 === 0 && bytes.length > 0) bytes[bad % bytes.length] = 0xff;
      const rules = { ...options, maxBytes: bound };
      expect(observe(lines(rules), [cut(bytes, [bad])])).toEqual(
        slowLines(bytes, resolveLineRules(rules)),
      );
    }),
    { numRuns: 40 },
  );
});

test("lines() keeps a byte order mark and breaks at LF alone", () => {
  expect(values(run("\ufeffa\u2028b\u0085c\vd\r\ne"))).toEqual(["\ufeffa\u2028b\u0085c\vd", "e"]);
});

test("lines() drops one CR before the LF and keeps others", () => {
  expect(values(run("a\r\n\r\n\r\r\nb\rc\n\r"))).toEqual(["a", "", "\r", "b\rc", "\r"]);
});

test("lines() makes no line of zero bytes at the end", () => {
  expect(run("")).toEqual([]);
  expect(run("a\n")).toEqual([{ value: "a" }]);
  expect(run("a\n", { lastLine: "fault" })).toEqual([{ value: "a" }]);
});

test("lines() reports a last line without LF as truncated, whatever it holds", () => {
  const seen = observe(lines({ lastLine: "fault", maxBytes: 4 }), [[bytesOf("a\nb\r")]]);
  expect(seen).toEqual([
    { value: "a" },
    { fault: "truncated_line", data: { line: 1, offset: 2, excerpt: "b\r" } },
  ]);
});

test("lines() reports an endless line once, at the byte that makes it too long, and goes on after its LF", () => {
  const seen: Seen<string>[] = [];
  const sink = recordingSink(seen);
  const stage = lines({ maxBytes: 10 });
  stage.push([bytesOf("0123456789ab")], sink);
  expect(seen).toEqual([]);
  stage.push([bytesOf("c")], sink);
  expect(seen.length).toBe(1);
  for (let k = 0; k < 10; k += 1) stage.push([bytesOf("more more more")], sink);
  stage.push([bytesOf("end\ngood\n")], sink);
  stage.end(sink);
  expect(seen).toEqual([
    { fault: "line_too_long", data: { line: 0, offset: 0, excerpt: "0123456789", maxBytes: 10 } },
    { value: "good" },
  ]);
});

test("lines() cuts the excerpt at 200 bytes, also of a dropped line, and decodes it lossily", () => {
  const [fault] = observe(lines({ maxBytes: 1000 }), [[bytesOf("é".repeat(2000))]]);
  expect(fault).toMatchObject({ data: { excerpt: "é".repeat(100) } });
  const [short] = observe(lines({ maxBytes: 1000 }), [[bytesOf(`x${"é".repeat(2000)}`)]]);
  expect(short).toMatchObject({ data: { excerpt: `x${"é".repeat(99)}\ufffd` } });
});

test("lines() hands on at most 64 lines at a time and stops in the middle of a chunk", () => {
  for (const text of ["a\n".repeat(500), `\u{e9}\u{ff}` + "\n".repeat(500)]) {
    const sizes: number[] = [];
    const sink = {
      open: true,
      next(outputs: readonly string[]): void {
        sizes.push(outputs.length);
        if (sizes.length === 2) sink.open = false;
      },
      fail: () => expect.unreachable("no fault is due"),
    };
    lines().push([bytesOf(text), bytesOf(text)], sink);
    expect(sizes).toEqual([64, 64]);
  }
});

test("lines() stops at a fault when the sink closes: neither the rest of the chunk nor the next one is read", () => {
  const seen: Seen<string>[] = [];
  const sink = recordingSink(seen);
  sink.fail = (fault) => {
    seen.push({ fault: fault.code, data: fault.data });
    sink.open = false;
  };
  lines({ empty: "fault" }).push([bytesOf("a\n\nb\n\n"), bytesOf("c\n")], sink);
  expect(seen.map((s) => ("value" in s ? s.value : "fault"))).toEqual(["a", "fault"]);
});

test("lines() decodes what it was given, although the caller uses the chunk again", () => {
  const stage = lines();
  const seen: Seen<string>[] = [];
  const chunk = bytesOf("half");
  stage.push([chunk], recordingSink(seen));
  chunk.fill(0xff);
  stage.push([bytesOf(" done\n")], recordingSink(seen));
  expect(seen).toEqual([{ value: "half done" }]);
});

test("lines() refuses wrong options and chunks that are not bytes", () => {
  expect(() => lines({ maxBytes: 0 })).toThrow(RangeError);
  expect(() => lines({ maxBytes: Number.MAX_SAFE_INTEGER })).toThrow(RangeError);
  expect(() => lines({ maxBytes: 1.5 })).toThrow(RangeError);
  expect(() => lines({ empty: "drop" as "skip" })).toThrow(TypeError);
  expect(() => lines().push(["text" as unknown as Uint8Array], recordingSink([]))).toThrow(
    TypeError,
  );
});

test("lines() keeps no more than its bound of a 512 MiB line", () => {
  const stage = lines();
  const seen: Seen<string>[] = [];
  const sink = recordingSink(seen);
  const chunk = new Uint8Array(64 * 1024).fill(0x78);
  const { copied } = countWork(() => {
    for (let k = 0; k < 8192; k += 1) stage.push([chunk], sink);
    stage.push([bytesOf("\nnext\n")], sink);
  });
  expect(seen.map((s) => ("value" in s ? s.value : s))).toMatchObject([
    { fault: "line_too_long" },
    "next",
  ]);
  expect(copied).toBeLessThan(3 * 1024 * 1024);
});

test("lines() copies at most three bytes for each byte of an 8 MiB line in 4 KiB chunks", () => {
  const size = 8 * 1024 * 1024;
  const stage = lines({ maxBytes: size });
  const seen: Seen<string>[] = [];
  const chunk = new Uint8Array(4096).fill(0x78);
  const { copied } = countWork(() => {
    for (let k = 0; k < size / chunk.length; k += 1) stage.push([chunk], recordingSink(seen));
    stage.push([bytesOf("\n")], recordingSink(seen));
  });
  expect(seen.length).toBe(1);
  expect(copied).toBeLessThan(3.01 * size);
});

/** Counts the bytes that `Uint8Array.prototype.set` copies while `work` runs. */
function countWork(work: () => void): { copied: number } {
  // oxlint-disable-next-line typescript/unbound-method -- put back and called with its receiver below
  const { set } = Uint8Array.prototype;
  const counted = { copied: 0 };
  // oxlint-disable-next-line no-extend-native -- only while the work runs
  Uint8Array.prototype.set = function counting(
    this: Uint8Array,
    source: ArrayLike<number>,
    offset?: number,
  ): void {
    counted.copied += source.length;
    set.call(this, source, offset);
  };
  try {
    work();
  } finally {
    // oxlint-disable-next-line no-extend-native -- as it was
    Uint8Array.prototype.set = set;
  }
  return counted;
}
