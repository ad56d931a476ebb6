import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blockParts } from "../../../lib/driver/companion/block-parts.ts";
import { CompanionFault } from "../../../lib/driver/companion/mod.ts";
import { concat } from "../../../lib/bytes/concat.ts";
import { collect } from "../../../lib/stage/mod.ts";
import { type Block, BlockReader, encodeBlocks } from "./support/blocks.ts";
import { stream } from "./support/ids.ts";
import { abort, credit, frame, hello, stop } from "./support/scripted-end.ts";

const id = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" });
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.constant(hello({ token: "ab" })),
  id.map((name) => stop(name)),
  fc.tuple(id, id).map(([name, reason]) => abort(name, reason)),
  fc
    .tuple(id, fc.integer({ min: 1, max: 2 ** 31 - 1 }))
    .map(([name, bytes]) => credit(name, bytes)),
  fc
    .record({
      name: id,
      payload: fc.uint8Array({ maxLength: 300 }),
      sequence: fc.nat(),
      final: fc.boolean(),
    })
    .map(({ name, payload, sequence, final }) => frame(name, sequence, { payload, final })),
);

/** Puts bytes through in pieces of the given sizes, repeated. */
function read(bytes: Uint8Array, sizes: readonly number[], maxFrameBytes?: number): BlockReader {
  const reader = new BlockReader(maxFrameBytes);
  for (let at = 0, k = 0; at < bytes.length; k += 1) {
    const size = sizes[k % sizes.length]!;
    reader.push(bytes.subarray(at, at + size));
    at += size;
  }
  reader.end();
  return reader;
}

const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

describe("blockParts()", () => {
  test("gives the blocks that were encoded, however the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 8 }), cuts, (blocks, sizes) => {
        const reader = read(encodeBlocks(blocks), sizes);
        expect(reader.fault).toBeUndefined();
        expect(reader.blocks).toEqual(blocks);
      }),
      { numRuns: 150 },
    );
  });

  test("gives the same blocks and fault for broken bytes, however they are cut", () => {
    const broken = fc.tuple(
      fc.array(block, { minLength: 1, maxLength: 5 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
    );
    fc.assert(
      fc.property(broken, cuts, fc.boolean(), ([blocks, where, change], sizes, cut) => {
        const bytes = encodeBlocks(blocks);
        const at = where % bytes.length;
        const damaged = cut
          ? bytes.slice(0, at)
          : bytes.map((byte, k) => (k === at ? byte ^ change : byte));
        const whole = read(damaged, [damaged.length + 1], 200);
        const pieces = read(damaged, sizes, 200);
        expect(pieces.blocks).toEqual(whole.blocks);
        expect([pieces.fault?.message, pieces.fault?.data]).toEqual([
          whole.fault?.message,
          whole.fault?.data,
        ]);
        if (whole.fault !== undefined) expect(whole.fault).toBeInstanceOf(CompanionFault);
      }),
      { numRuns: 300 },
    );
  });

  test("hands payloads on as views of the chunks, in parts as they come", () => {
    const payload = new Uint8Array(100).fill(7);
    const bytes = encodeBlocks([frame("a", 0, { payload })]);
    const [first, second] = [bytes.slice(0, -30), bytes.slice(-30)];
    const { values: outputs } = collect(blockParts(1000), [first, second]);
    expect(outputs.map((part) => part.kind)).toEqual(["header", "payload", "payload"]);
    const parts = outputs.flatMap((part) => (part.kind === "payload" ? [part] : []));
    expect(
      parts.map(({ bytes: view, last }) => [
        view.length,
        view.buffer === (last ? second : first).buffer,
      ]),
    ).toEqual([
      [70, true],
      [30, true],
    ]);
    expect(concat(parts.map((part) => part.bytes))).toEqual(payload);
  });

  test.each([
    ["a header block", [], 0],
    ["a payload", [frame("a", 0, { payload: "x" })], -2],
  ])("refuses a length of 1 GiB for %s before it keeps anything", (_, blocks, cut) => {
    const before = encodeBlocks(blocks);
    // 2^28−1 is the most that four bytes can say; 2^30 takes five.
    for (const prefix of [
      [0xff, 0xff, 0xff, 0x7f],
      [0x80, 0x80, 0x80, 0x80, 0x04],
    ]) {
      const reader = new BlockReader();
      reader.push(concat([before.slice(0, before.length + cut), new Uint8Array(prefix)]));
      expect(reader.fault).toMatchObject({
        code: "malformed",
        data: { offset: before.length + cut },
      });
    }
  });

  test("checks a frame against what was agreed, at its header", () => {
    const good = encodeBlocks([frame("a", 0, { payload: "1234" })]);
    const bad = encodeBlocks([frame("a", 1, { payload: "12345" })]);
    const reader = new BlockReader(4);
    reader.push(good);
    reader.push(bad.slice(0, -6));
    expect(reader.blocks).toHaveLength(1);
    expect(reader.fault).toMatchObject({ code: "malformed", data: { offset: good.length } });
    expect(() => blockParts(0)).toThrow(RangeError);
    expect(() => blockParts(262_145)).toThrow(RangeError);
  });

  test("takes 256 KiB in frames of one byte, a byte at a time", () => {
    const one = frame("a", 0, { payload: "x" });
    const bytes = encodeBlocks([one]);
    const reader = new BlockReader();
    const count = 2048;
    for (let k = 0; k < count; k += 1)
      for (let at = 0; at < bytes.length; at += 1) reader.push(bytes.subarray(at, at + 1));
    reader.end();
    expect(reader.fault).toBeUndefined();
    expect(reader.blocks).toHaveLength(count);
    expect(stream("a")).toMatchObject({ stream_id: "a" });
  });

  test("takes bytes alone", () => {
    expect(() => collect(blockParts(1), ["x" as unknown as Uint8Array])).toThrow(TypeError);
  });
});
