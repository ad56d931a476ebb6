import * as fc from "fast-check";
import * as lp from "it-length-prefixed";
import { pipe } from "it-pipe";
import { expect, test } from "vitest";
import { encodeLengthPrefixed, lengthPrefixed, lines } from "../../lib/frames/mod.ts";
import { toIterable } from "../../lib/stage/mod.ts";
import { cut } from "../stage/observe.ts";

const frames = fc.array(
  fc.oneof(
    fc.uint8Array({ maxLength: 5 }),
    fc.constantFrom(127, 128, 16_383, 20_000).map((n) => new Uint8Array(n).fill(n)),
  ),
  { maxLength: 6 },
);

async function all<T>(source: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of source) values.push(value);
  return values;
}

function join(parts: Iterable<Uint8Array>): Uint8Array {
  return Uint8Array.from([...parts].flatMap((part) => [...part]));
}

test("lengthPrefixed() decodes what it-length-prefixed encodes, however it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(frames, fc.array(fc.nat(), { maxLength: 8 }), async (sent, places) => {
      const chunks = cut(join(lp.encode(sent) as Iterable<Uint8Array>), places);
      const got = await all(toIterable(lengthPrefixed())(chunks));
      expect(got.map(String)).toEqual(sent.map(String));
    }),
    { numRuns: 60 },
  );
});

test("it-length-prefixed decodes what encodeLengthPrefixed() encodes, however it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(frames, fc.array(fc.nat(), { maxLength: 8 }), async (sent, places) => {
      const chunks = cut(join(await all(toIterable(encodeLengthPrefixed())(sent))), places);
      const got = [...lp.decode(chunks)].map((list) => String(list.subarray()));
      expect(got).toEqual(sent.map(String));
    }),
    { numRuns: 60 },
  );
});

test("the stages stand in a real it-pipe, with it-length-prefixed and alone", async () => {
  const texts = await pipe(
    [
      new TextEncoder().encode("one\ntwo\r\n"),
      new TextEncoder().encode("thr"),
      new TextEncoder().encode("ee\n"),
    ],
    toIterable(encodeLengthPrefixed()),
    (source) => lp.decode(source),
    async function* bytes(source) {
      for await (const list of source) yield list.subarray();
    },
    toIterable(lines()),
    all,
  );
  expect(texts).toEqual(["one", "two", "three"]);
});

test("a decoder of it-length-prefixed with the same bound refuses what lengthPrefixed() refuses", () => {
  const bytes = join(lp.encode([new Uint8Array(11)]) as Iterable<Uint8Array>);
  expect(() => [...lp.decode([bytes], { maxDataLength: 10 })]).toThrow();
  const sink = { open: true, next: () => undefined, fail: () => undefined };
  expect(() => lengthPrefixed({ maxBytes: 10 }).push([bytes], sink)).toThrow(
    /announces 11 bytes, allowed are 10/,
  );
});
