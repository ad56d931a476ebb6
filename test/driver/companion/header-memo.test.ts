import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeHead } from "../../../lib/driver/companion/decode-head.ts";
import { encodeDataFrame } from "../../../lib/driver/companion/encode-block.ts";
import { HeaderMemo } from "../../../lib/driver/companion/header-memo.ts";
import type { DataFrameHeader } from "../../../lib/driver/mod.ts";
import { canonicalBytes } from "../../../lib/json/mod.ts";
import { stream } from "./support/ids.ts";

const numbers = fc.oneof(fc.nat({ max: 20 }), fc.maxSafeNat());
const header = fc.record({
  stream_id: fc.constantFrom("a", "ab", 'quote " slash \\ é ☃ \u0001'),
  sequence: numbers,
  length: fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 2 ** 32 - 1 })),
  final: fc.boolean(),
});

function full({
  stream_id,
  ...rest
}: Omit<DataFrameHeader, "invocation_id" | "attempt_id">): DataFrameHeader {
  return { ...stream(stream_id), ...rest };
}

describe("HeaderMemo", () => {
  test("reads what parsing reads, or nothing", () => {
    fc.assert(
      fc.property(
        header,
        header,
        fc.option(fc.tuple(fc.nat(), fc.integer({ min: 32, max: 126 }))),
        (one, two, change) => {
          const memo = new HeaderMemo();
          memo.remember(full(one));
          const bytes = canonicalBytes(full(two));
          if (change !== null) bytes[change[0] % bytes.length] = change[1];
          const read = memo.read(bytes);
          if (read === undefined)
            return change !== null || one.stream_id !== two.stream_id || two.sequence >= 1e15;
          expect(decodeHead(bytes)).toEqual(read);
          return true;
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("knows nothing before it was told", () => {
    expect(
      new HeaderMemo().read(
        canonicalBytes(full({ stream_id: "a", sequence: 0, length: 0, final: true })),
      ),
    ).toBeUndefined();
  });
});

describe("encodeDataFrame()", () => {
  test("writes canonical headers", () => {
    fc.assert(
      fc.property(header, (one) => {
        const { length: _, ...rest } = one;
        const empty = { ...full({ ...rest, length: 0 }) };
        const canonical = canonicalBytes(empty);
        expect(encodeDataFrame(empty, new Uint8Array(0)).slice(2, -1)).toEqual(canonical);
      }),
    );
  });
});
