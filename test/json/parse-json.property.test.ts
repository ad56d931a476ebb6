import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isSluiceError } from "../../lib/errors.ts";
import { exactParse } from "../../lib/json/exact-parser.ts";
import { fastParse } from "../../lib/json/fast-parse.ts";
import { parseJson } from "../../lib/json/mod.ts";
import { mutate, nest, Random, randomDocument, repeatMember } from "./support/documents.ts";
import { referenceParse, type Verdict } from "./support/reference-parser.ts";

const RUNS = 90;
const DOCUMENTS_A_RUN = 250;

function verdict(parse: () => unknown): Verdict {
  try {
    return { value: parse() };
  } catch (thrown) {
    if (isSluiceError(thrown)) return { code: thrown.code };
    throw thrown;
  }
}

/** Compares all three parsers with the reference, and tells which path an accepted text took. */
function agree(text: string): "fast" | "exact" | "refused" {
  const expected = referenceParse(text);
  const exact = verdict(() => exactParse(text, 256));
  const whole = verdict(() => parseJson(text));
  if (!isDeepStrictEqual(exact, expected))
    expect({ text, verdict: exact }).toStrictEqual({ text, verdict: expected });
  if (!isDeepStrictEqual(whole, expected))
    expect({ text, verdict: whole }).toStrictEqual({ text, verdict: expected });
  if (text.isWellFormed()) {
    const bytes = verdict(() => parseJson(new TextEncoder().encode(text)));
    if (!isDeepStrictEqual(bytes, expected))
      expect({ text, verdict: bytes }).toStrictEqual({ text, verdict: expected });
  }
  if ("code" in expected) return "refused";
  return text.isWellFormed() && fastParse(text, 256) !== undefined ? "fast" : "exact";
}

test(`parseJson() agrees with the reference parser on ${RUNS * DOCUMENTS_A_RUN} documents and mutations`, () => {
  const paths = { fast: 0, exact: 0, refused: 0 };
  JSON.parse('{"x":1,"\\\\":2}');
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = new Random(seed);
      for (let index = 0; index < DOCUMENTS_A_RUN; index++) {
        const document = randomDocument(random);
        const change = random.below(4);
        if (change === 0) paths[agree(document)]++;
        else if (change === 1) paths[agree(repeatMember(document, random))]++;
        else
          paths[agree(mutate(change === 2 ? document : repeatMember(document, random), random))]++;
      }
    }),
    { numRuns: RUNS },
  );
  // Each path is travelled by a good share, else the test shows little.
  expect(paths.fast).toBeGreaterThan(2000);
  expect(paths.exact).toBeGreaterThan(500);
  expect(paths.refused).toBeGreaterThan(4000);
}, 30_000);

test("parseJson() agrees with the reference parser near the depth limit", () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 245, max: 265 }), (seed, levels) => {
      const random = new Random(seed);
      const text = nest(randomDocument(random), levels);
      agree(text);
      agree(mutate(text, random));
    }),
    { numRuns: 500 },
  );
}, 30_000);

test("parseJson() refuses a repeated member whatever the number in it looks like", () => {
  const spelling = fc.tuple(
    fc.constantFrom("", "-"),
    fc.integer({ min: 0, max: 99_999 }),
    fc.constantFrom(
      "",
      "0",
      "000",
      "0000000",
      "e3",
      "e15",
      "E+5",
      "e-3",
      "e-320",
      ".0",
      ".5",
      ".25e7",
      "e18",
    ),
  );
  fc.assert(
    fc.property(fc.array(spelling, { minLength: 1, maxLength: 5 }), (numbers) => {
      const texts = numbers.map((parts) => parts.join(""));
      const text = `{"":0,"":[${texts.join(",")}]}`;
      expect(fastParse(text, 256)).toBeUndefined();
      expect(agree(text)).toBe("refused");
      agree(`[${texts.join(",")}]`);
    }),
    { numRuns: 2000 },
  );
}, 30_000);
