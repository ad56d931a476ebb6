import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSluiceError } from "../../lib/errors.ts";
import {
  canonicalBytes,
  canonicalJson,
  parseJson,
  rawJson,
  RawJson,
  UnencodableReason,
} from "../../lib/json/mod.ts";

function refusal(value: unknown): { code: string; [name: string]: unknown } {
  try {
    canonicalJson(value);
  } catch (thrown) {
    if (isSluiceError(thrown)) return { code: thrown.code, ...thrown.data };
    throw thrown;
  }
  throw new Error("accepted");
}

const names = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "A",
    "b",
    "10",
    "9",
    "01",
    "4294967295",
    "1e3",
    "__proto__",
    "toJSON",
    "é",
    "\ufb33",
    "😀",
  ),
  fc.string({ unit: "binary", maxLength: 4 }),
);
const scalars = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.string({ unit: "binary" }),
  fc.constantFrom(true, false, null, "\\ud800", 1e21, 1e-7, -0),
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalars,
    fc.array(tie("tree"), { maxLength: 4 }),
    fc
      .array(fc.tuple(names, tie("tree")), { maxLength: 6 })
      .map((entries) => Object.fromEntries(entries)),
  ),
}));

describe("canonicalJson() writes RFC 8785 text", () => {
  test.each<[unknown, string]>([
    [null, "null"],
    [
      '\u0000\u001f\b\t\n\f\r"\\/\u007f\u2028é',
      '"\\u0000\\u001f\\b\\t\\n\\f\\r\\"\\\\/\u007f\u2028é"',
    ],
    [[1e21, 1e-7, -0, 0.1, 333333333.3333333], "[1e+21,1e-7,0,0.1,333333333.3333333]"],
    [{ b: 1, a: [{ d: 1, c: 2 }] }, '{"a":[{"c":2,"d":1}],"b":1}'],
    [{ 9: 1, 10: 2, "01": 3, "": 4 }, '{"":4,"01":3,"10":2,"9":1}'],
    [{ a: { 9: 1, 10: { z: 1, y: 2 } }, 1: 0 }, '{"1":0,"a":{"10":{"y":2,"z":1},"9":1}}'],
    [{ "\ufb33": 1, "😀": 2 }, '{"😀":2,"\ufb33":1}'],
    [{ b: undefined, a: 1, c: undefined }, '{"a":1}'],
    [{ z: 1, b: undefined, a: undefined }, '{"z":1}'],
    [Object.assign(Object.create(null), { b: 1, a: 2 }), '{"a":2,"b":1}'],
    [
      { b: new Date(0), a: { d: new Date(0), c: undefined } },
      '{"a":{"d":"1970-01-01T00:00:00.000Z"},"b":"1970-01-01T00:00:00.000Z"}',
    ],
  ])("%j", (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test.each([
    '{"__proto__":{"a":1},"a":2}',
    '{"9":1,"__proto__":{"b":0,"a":1},"10":2}',
    '{"b":1,"__proto__":2,"a":3}',
  ])("with __proto__ as an ordinary name: %s", (text) => {
    const ownNames = [...text.matchAll(/"(\w+)":/g)].map((match) => match[1]!).toSorted();
    const written = canonicalJson(parseJson(text));
    expect(parseJson(written)).toEqual(parseJson(text));
    expect([...written.matchAll(/"(\w+)":/g)].map((match) => match[1]!).toSorted()).toEqual(
      ownNames,
    );
    expect(written.startsWith('{"__proto__"') || written.startsWith('{"10"')).toBe(true);
  });

  test("equal to the canonicalize package on generated values", () => {
    fc.assert(
      fc.property(tree, (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
      { numRuns: 3000 },
    );
  });

  test("that parses to the value again, and is its own canonical text", () => {
    fc.assert(
      fc.property(tree, (value) => {
        const text = canonicalJson(value);
        const parsed = parseJson(text);
        // toEqual() tells -0 from 0, which canonical text does not.
        expect(parsed).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(parsed)).toBe(text);
        expect(canonicalJson(rawJson(JSON.stringify(value, null, 1).trim()))).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  test("as bytes too", () => {
    expect(canonicalBytes({ é: 1 })).toEqual(new TextEncoder().encode('{"é":1}'));
  });

  test("of 100 000 members in any order", () => {
    const shuffled = Array.from({ length: 100_000 }, (_, index) => (index * 7919) % 100_000);
    const words = Object.fromEntries(shuffled.map((index) => [`k${index}`, index]));
    expect(Object.keys(JSON.parse(canonicalJson(words)))).toEqual(Object.keys(words).toSorted());
    const indices = Object.fromEntries(shuffled.map((index) => [index, 0]));
    const text = `{${Object.keys(indices)
      .toSorted()
      .map((name) => `"${name}":0`)
      .join(",")}}`;
    expect(canonicalJson(indices)).toBe(text);
  });

  test("and takes no inherited names for members", () => {
    const prototype = Object.prototype as { polluted?: number };
    prototype.polluted = 1;
    try {
      expect(canonicalJson({ b: 1, a: [{ d: 1, c: 2 }] })).toBe('{"a":[{"c":2,"d":1}],"b":1}');
    } finally {
      delete prototype.polluted;
    }
  });

  test("and leaves the value as it was", () => {
    const value = { b: [{ d: 1, c: new Date(0) }], a: undefined };
    const before = structuredClone(value);
    canonicalJson(value);
    expect(value).toStrictEqual(before);
    expect(Object.keys(value)).toEqual(["b", "a"]);
  });
});

describe("canonicalJson() refuses what has no JSON text, with path and reason", () => {
  class Point {
    x = 1;
  }
  test.each<[unknown, string, string]>([
    [undefined, "", "undefined"],
    [() => 1, "", "function"],
    [[1, undefined], "/1", "undefined"],
    // eslint-disable-next-line no-sparse-arrays
    [{ list: [1, , 2] }, "/list/1", "undefined"],
    [{ b: { "/~": NaN } }, "/b/~1~0", "not_finite"],
    [{ b: 1, a: [-Infinity] }, "/a/0", "not_finite"],
    [{ n: 1n }, "/n", "bigint"],
    [{ f() {} }, "/f", "function"],
    [[{ s: Symbol("s") }], "/0/s", "symbol"],
    [{ m: new Map() }, "/m", "not_plain"],
    [{ p: new Point() }, "/p", "not_plain"],
    [{ p: Object.create({ a: 1 }) }, "/p", "not_plain"],
    [{ b: new Number(1) }, "/b", "not_plain"],
    [["\ud800"], "/0", "lone_surrogate"],
    [{ a: "\\ud800", b: { c: "x\udc00" } }, "/b/c", "lone_surrogate"],
    [{ a: { "\ud800": 1 } }, "/a/\ufffd", "lone_surrogate"],
    [{ z: 1, 10: 1, 9: ["\ud800"] }, "/9/0", "lone_surrogate"],
  ])("case %#", (value, path, reason) => {
    expect(refusal(value)).toEqual({ code: "unencodable", path, reason });
    expect(Object.values(UnencodableReason)).toContain(reason);
  });

  test("a cycle, at the place where it closes", () => {
    const list: unknown[] = [1];
    const value = { b: { list }, a: 1 };
    list.push({ back: value });
    expect(refusal(value)).toEqual({
      code: "unencodable",
      path: "/b/list/1/back",
      reason: "cycle",
    });
    const twice: unknown[] = [];
    twice.push(twice, twice);
    expect(refusal(twice)).toEqual({ code: "unencodable", path: "/0", reason: "cycle" });
  });

  test("a value at depth 257", () => {
    const nested = (levels: number, inside: unknown): unknown =>
      Array.from({ length: levels }).reduce((inner) => [inner], inside);
    expect(canonicalJson(nested(256, 1))).toHaveLength(513);
    expect(canonicalJson(nested(256, []))).toHaveLength(514);
    expect(canonicalJson(nested(256, { a: undefined }))).toHaveLength(514);
    const deep = { code: "unencodable", path: "/0".repeat(257), reason: "depth" };
    for (const inside of [1, "a", null, [], {}, rawJson("1"), new Date(0)]) {
      expect(refusal(nested(257, inside))).toEqual(deep);
    }
    expect(refusal(nested(100_000, 1))).toMatchObject({ reason: "depth" });
  });

  test("the same object twice, side by side, is no cycle", () => {
    const shared = { b: 1, a: 2 };
    expect(canonicalJson([shared, { shared }])).toBe('[{"a":2,"b":1},{"shared":{"a":2,"b":1}}]');
  });
});

describe("canonicalJson() calls toJSON", () => {
  test("with the name or index, and encodes what comes back", () => {
    const named = { toJSON: (name: string) => ({ z: name, a: 1 }) };
    expect(canonicalJson([named, { x: named }])).toBe('[{"a":1,"z":"0"},{"x":{"a":1,"z":"x"}}]');
    expect(canonicalJson({ toJSON: () => rawJson('{"b":1,"a":2}') })).toBe('{"a":2,"b":1}');
  });

  test("of arrays and of hidden members too", () => {
    const list = Object.assign([1], { toJSON: () => "list" });
    const hidden = Object.defineProperty({ a: 1 }, "toJSON", { value: () => ({ z: 1, b: 2 }) });
    expect(canonicalJson([list, hidden])).toBe('["list",{"b":2,"z":1}]');
  });

  test("and leaves out a member whose toJSON gives undefined, but no element", () => {
    const nothing = { toJSON: () => undefined };
    expect(canonicalJson({ a: 1, b: nothing })).toBe('{"a":1}');
    expect(refusal([nothing])).toMatchObject({ path: "/0", reason: "undefined" });
    expect(refusal(nothing)).toMatchObject({ path: "", reason: "undefined" });
  });

  test("once: what it returns has to be plain", () => {
    const again = { toJSON: (): unknown => again };
    expect(refusal({ again })).toMatchObject({ path: "/again", reason: "not_plain" });
  });
});

describe("rawJson() stands for the value that its text spells", () => {
  test("wherever it is encoded", () => {
    expect(canonicalJson(rawJson(' {"b":1.0,"a":"\\u0041"} '))).toBe('{"a":"A","b":1}');
    expect(canonicalJson({ a: 1, id: rawJson("1e2"), list: [rawJson("[2]")] })).toBe(
      '{"a":1,"id":100,"list":[[2]]}',
    );
    expect(rawJson("1")).toBeInstanceOf(RawJson);
    expect(rawJson("1").text).toBe("1");
  });

  test("and keeps the codes of the strict parser", () => {
    expect(refusal({ id: rawJson(" 1") })).toMatchObject({ code: "syntax", offset: 0 });
    expect(refusal([rawJson('{"a":1,"a":2}')])).toMatchObject({
      code: "duplicate_key",
      path: "/a",
    });
    expect(refusal(rawJson("[1] 2")).code).toBe("trailing");
    expect(() => rawJson(1 as never)).toThrow(TypeError);
  });

  test("and counts its depth from where it stands", () => {
    const text = "[".repeat(256) + "1" + "]".repeat(256);
    expect(canonicalJson(rawJson(text))).toBe(text);
    expect(refusal([rawJson(text)]).code).toBe("depth");
  });
});
