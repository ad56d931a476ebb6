import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { concat } from "../../../lib/bytes/concat.ts";
import { sha256Digest } from "../../../lib/json/mod.ts";
import { ChunkBuffer } from "../../../lib/driver/companion/chunk-buffer.ts";

/** A piece of `size` bytes that lies within a larger chunk, or in one of its own. */
const piece = fc.record({
  size: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 3000, max: 14_000 })),
  own: fc.boolean(),
});
const step = fc.oneof(
  { weight: 3, arbitrary: piece },
  { weight: 1, arbitrary: fc.constant("shift" as const) },
);

describe("ChunkBuffer", () => {
  test("gives back what was put in, and costs at most twice as much memory", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const buffer = new ChunkBuffer();
        const [put, got]: [Uint8Array[], Uint8Array[]] = [[], []];
        let [next, held] = [0, 0];
        for (const one of steps) {
          if (one === "shift") {
            const chunk = buffer.shift();
            if (chunk !== undefined) got.push(chunk.slice());
            held -= chunk?.length ?? 0;
          } else {
            const memory = new Uint8Array(one.own ? one.size : Math.max(one.size, 16_384));
            const bytes = memory.subarray(0, one.size);
            for (let k = 0; k < bytes.length; k += 97) bytes[k] = next++;
            put.push(bytes.slice());
            held += bytes.length;
            buffer.push(bytes);
          }
          expect(buffer.cost).toBeLessThanOrEqual(2 * buffer.bytes);
          expect(buffer.bytes).toBe(held);
        }
        for (let chunk = buffer.shift(); chunk !== undefined; chunk = buffer.shift())
          got.push(chunk.slice());
        expect(sha256Digest(concat(got))).toBe(sha256Digest(concat(put)));
        expect([buffer.bytes, buffer.cost]).toEqual([0, 0]);
      }),
      { numRuns: 100 },
    );
  });

  test("copies small pieces together", () => {
    const buffer = new ChunkBuffer();
    for (let k = 0; k < 256 * 1024; k += 1) buffer.push(new Uint8Array([k]));
    expect(buffer.cost).toBeLessThanOrEqual(512 * 1024);
    let chunks = 0;
    while (buffer.shift() !== undefined) chunks += 1;
    expect(chunks).toBe(4);
  });

  test("keeps a large piece that is most of its memory as it is", () => {
    const memory = new Uint8Array(65_536);
    const buffer = new ChunkBuffer();
    buffer.push(memory.subarray(100));
    buffer.push(memory.subarray(0, 32_767));
    expect(buffer.shift()!.buffer).toBe(memory.buffer);
    expect(buffer.shift()!.buffer).not.toBe(memory.buffer);
  });

  test("clear() drops everything", () => {
    const buffer = new ChunkBuffer();
    buffer.push(new Uint8Array(5));
    buffer.push(new Uint8Array(5000));
    expect(buffer.clear()).toBe(5005);
    expect([buffer.bytes, buffer.cost, buffer.shift()]).toEqual([0, 0, undefined]);
    buffer.push(new Uint8Array([1]));
    expect(buffer.shift()).toEqual(new Uint8Array([1]));
  });
});
