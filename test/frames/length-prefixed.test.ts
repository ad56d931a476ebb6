import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SluiceError } from "../../lib/errors.ts";
import { encodeLengthPrefixed, lengthPrefixed, type LengthPrefix } from "../../lib/frames/mod.ts";
import { cut, observe, recordingSink, type Seen } from "../stage/observe.ts";

const PREFIXES = ["uvarint", "u32be", "u32le"] as const;
const frames = fc.array(
  fc.oneof(
    fc.uint8Array({ maxLength: 5 }),
    fc.constantFrom(126, 127, 128, 129, 300, 16_383, 16_384).map(filled),
  ),
  { maxLength: 8 },
);

function filled(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, k) => k & 0xff);
}

/** Written down apart from the code under test. */
function slowEncode(prefix: LengthPrefix, all: readonly Uint8Array[]): Uint8Array {
  const bytes = all.flatMap((frame) => {
    const n = frame.length;
    const big = [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255];
    if (prefix === "u32be") return [...big, ...frame];
    if (prefix === "u32le") return [...big.toReversed(), ...frame];
    return n < 128
      ? [n, ...frame]
      : n < 16_384
        ? [(n & 127) | 128, n >> 7, ...frame]
        : [...wide(n), ...frame];
  });
  return Uint8Array.from(bytes);
}

const wide = (n: number): number[] => [(n & 127) | 128, ((n >> 7) & 127) | 128, n >> 14];

/** Values as "1,2,3" and throws by their code, so that views compare by content, and quickly. */
function plain(seen: Seen<Uint8Array>[]): unknown[] {
  return seen.map((s) => {
    if ("value" in s) return String(s.value);
    if (!("thrown" in s)) return s;
    if (!(s.thrown instanceof SluiceError)) throw s.thrown;
    return { code: s.thrown.code, data: s.thrown.data };
  });
}

test.each(PREFIXES)("lengthPrefixed() with %s gives the same frames for any cut", (prefix) => {
  fc.assert(
    fc.property(
      frames,
      fc.array(fc.nat(), { maxLength: 10 }),
      fc.boolean(),
      (all, places, together) => {
        const chunks = cut(slowEncode(prefix, all), places);
        const groups = together ? [chunks] : chunks.map((chunk) => [chunk]);
        expect(plain(observe(lengthPrefixed({ prefix }), groups))).toEqual(all.map(String));
      },
    ),
    { numRuns: 200 },
  );
});

test.each(PREFIXES)(
  "lengthPrefixed() with %s reports an end at any byte inside a frame as truncated, after the frames before it",
  (prefix) => {
    const first = slowEncode(prefix, [filled(3), filled(0)]);
    const bytes = slowEncode(prefix, [filled(3), filled(0), filled(300)]);
    for (let end = first.length + 1; end < bytes.length; end += 1) {
      const received = end - first.length;
      expect(
        plain(observe(lengthPrefixed({ prefix }), [cut(bytes.subarray(0, end), [end >> 1])])),
      ).toEqual([
        "0,1,2",
        "",
        { code: "truncated_frame", data: { frame: 2, offset: first.length, received } },
      ]);
    }
    expect(plain(observe(lengthPrefixed({ prefix }), [[first]]))).toEqual(["0,1,2", ""]);
  },
);

test.each(PREFIXES)(
  "lengthPrefixed() with %s takes a frame of maxBytes and throws at one byte more, after the frames before it, for any cut",
  (prefix) => {
    const bytes = slowEncode(prefix, [filled(300), filled(301), filled(1)]);
    const offset = slowEncode(prefix, [filled(300)]).length;
    for (let at = 0; at < offset + 10; at += 1) {
      expect(plain(observe(lengthPrefixed({ prefix, maxBytes: 300 }), [cut(bytes, [at])]))).toEqual(
        [
          String(filled(300)),
          { code: "frame_too_long", data: { frame: 1, offset, length: 301, maxBytes: 300 } },
        ],
      );
    }
  },
);

test.each(PREFIXES)(
  "lengthPrefixed() with %s matches encodeLengthPrefixed() both ways",
  (prefix) => {
    fc.assert(
      fc.property(frames, fc.nat(8), (all, split) => {
        const seen = observe(encodeLengthPrefixed({ prefix }), [
          all.slice(0, split),
          all.slice(split),
        ]);
        expect(plain(seen).join(",")).toBe(String(slowEncode(prefix, all)));
      }),
      { numRuns: 100 },
    );
  },
);

test("lengthPrefixed() gives a view of the chunk for a frame that lies in it, of no subclass, and one copy otherwise", () => {
  class Tagged extends Uint8Array {}
  const chunk = Tagged.from([9, 3, 1, 2, 3, 2, 7]).subarray(1);
  const seen: Seen<Uint8Array>[] = [];
  const stage = lengthPrefixed();
  stage.push([chunk], recordingSink(seen));
  stage.push([Uint8Array.of(8)], recordingSink(seen));
  expect(plain(seen)).toEqual(["1,2,3", "7,8"]);
  const [view, copy] = seen.map((s) => ("value" in s ? s.value : new Uint8Array()));
  expect(view?.buffer).toBe(chunk.buffer);
  expect(view?.constructor).toBe(Uint8Array);
  expect(copy?.buffer.byteLength).toBe(2);
});

test.each([
  ["u32be", [0x80, 0, 0, 0]],
  ["u32le", [0, 0, 0, 0x80]],
  ["uvarint", [0x80, 0x80, 0x80, 0x80, 0x08]],
] as const)(
  "lengthPrefixed() refuses a length of 2^31 in %s before it allocates",
  (prefix, bytes) => {
    const { Uint8Array: original } = globalThis;
    const sizes: unknown[] = [];
    const stage = lengthPrefixed({ prefix });
    const chunk = Uint8Array.from(bytes);
    globalThis.Uint8Array = new Proxy(original, {
      construct(target, args, self) {
        sizes.push(args[0]);
        return Reflect.construct(target, args, self) as object;
      },
    });
    try {
      expect(plain(observe(stage, [[chunk]]))).toMatchObject([
        { code: "frame_too_long", data: { length: 2 ** 31 } },
      ]);
    } finally {
      globalThis.Uint8Array = original;
    }
    expect(sizes.filter((size) => typeof size === "number" && size > 1000)).toEqual([]);
  },
);

test("lengthPrefixed() refuses a uvarint that is over-long or not in its shortest form", () => {
  const bad = [
    [0x80, 0x00],
    [0x81, 0x80, 0x00],
    [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
  ];
  for (const prefix of bad) {
    for (let at = 0; at <= prefix.length; at += 1) {
      const chunks = cut(Uint8Array.from([1, 5, ...prefix, 1, 1]), [at + 2]);
      const error = { code: "bad_prefix", data: { frame: 1, offset: 2 } };
      expect(plain(observe(lengthPrefixed(), [chunks]))).toEqual(["5", error]);
    }
  }
  expect(
    plain(
      observe(lengthPrefixed({ maxPrefixBytes: 1, maxBytes: 127 }), [[Uint8Array.of(0x80, 1)]]),
    ),
  ).toMatchObject([{ code: "bad_prefix" }]);
});

test("lengthPrefixed() refuses a maxBytes that the prefix cannot say, at construction", () => {
  for (const make of [lengthPrefixed, encodeLengthPrefixed]) {
    expect(() => make({ prefix: "u32be", maxBytes: 2 ** 32 })).toThrow(RangeError);
    expect(() => make({ maxPrefixBytes: 2, maxBytes: 16_384 })).toThrow(RangeError);
    expect(() => make({ maxPrefixBytes: 9 })).toThrow(RangeError);
    expect(() => make({ maxBytes: 0 })).toThrow(RangeError);
    expect(() => make({ prefix: "u32le", maxPrefixBytes: 4 })).toThrow(TypeError);
    expect(() => make({ prefix: "u16" as "u32be" })).toThrow(TypeError);
    make({ prefix: "u32be", maxBytes: 2 ** 32 - 1 });
    make({ maxPrefixBytes: 2, maxBytes: 16_383 });
  }
});

test("lengthPrefixed() stops in the middle of a chunk when the sink closes", () => {
  const sizes: number[] = [];
  const sink = {
    open: true,
    next(outputs: readonly Uint8Array[]): void {
      sizes.push(outputs.length);
      sink.open = false;
    },
    fail: () => expect.unreachable("no fault is due"),
  };
  lengthPrefixed().push([new Uint8Array(1000), new Uint8Array(1000)], sink);
  expect(sizes).toEqual([64]);
});

test("lengthPrefixed() keeps its state to the instance", () => {
  const [a, b] = [lengthPrefixed(), lengthPrefixed()];
  const [seenA, seenB]: [Seen<Uint8Array>[], Seen<Uint8Array>[]] = [[], []];
  a.push([Uint8Array.of(0x80)], recordingSink(seenA));
  b.push([Uint8Array.of(0x01, 0x07)], recordingSink(seenB));
  expect([plain(seenA), plain(seenB)]).toEqual([[], ["7"]]);
});

test("encodeLengthPrefixed() packs small frames into one chunk and passes large ones on without a copy", () => {
  const large = filled(20_000);
  const seen = observe(encodeLengthPrefixed({ prefix: "u32be" }), [
    [filled(1), filled(2), large, filled(1)],
  ]);
  const chunks = seen.map((s) => ("value" in s ? s.value : new Uint8Array()));
  expect(chunks.map((chunk) => chunk.length)).toEqual([5 + 6 + 4, 20_000, 5]);
  expect(chunks[1]).toBe(large);
});

test("encodeLengthPrefixed() reports a frame that is too long in its place and writes the others", () => {
  const seen = observe(encodeLengthPrefixed({ maxBytes: 2 }), [[filled(1), filled(3), filled(2)]]);
  expect(plain(seen)).toEqual([
    "1,0",
    { fault: "frame_too_long", data: { index: 1, length: 3, maxBytes: 2 } },
    "2,0,1",
  ]);
});
