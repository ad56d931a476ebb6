import { describe, expect, test } from "vitest";
import { isSluiceError, type SluiceError } from "../../lib/errors.ts";
import { fastParse } from "../../lib/json/fast-parse.ts";
import { JsonErrorCode, parseJson } from "../../lib/json/mod.ts";

function refusal(text: string | Uint8Array, maxDepth?: number): SluiceError {
  try {
    parseJson(text, { maxDepth });
  } catch (thrown) {
    if (isSluiceError(thrown)) return thrown;
    throw thrown;
  }
  throw new Error(`accepted: ${String(text).slice(0, 80)}`);
}

function fault(text: string | Uint8Array): [code: string, offset: unknown, path: unknown] {
  const { code, data } = refusal(text);
  return [code, data["offset"], data["path"]];
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe("parseJson() says what is wrong, at which byte and in which value", () => {
  test.each<[string, string, number, string]>([
    ["", "syntax", 0, ""],
    ["   ", "syntax", 3, ""],
    ['{"a":[1,2,]}', "syntax", 10, "/a/2"],
    ['{"a":tru}', "syntax", 8, "/a"],
    ['{"a":1 "b":2}', "syntax", 7, ""],
    ['{"a":1,}', "syntax", 7, ""],
    ['{"é":"\\x"}', "syntax", 8, "/é"],
    ['["\\u00g0"]', "syntax", 6, "/0"],
    ['["\n"]', "syntax", 2, "/0"],
    ['["open', "syntax", 6, "/0"],
    ["[01]", "syntax", 2, ""],
    ["[1.]", "syntax", 3, "/0"],
    ["[1e+]", "syntax", 4, "/0"],
    ["[-]", "syntax", 2, "/0"],
    ["\ufeff{}", "syntax", 0, ""],
    ["\u00a0{}", "syntax", 0, ""],
    ['{"a":{"b/~":1,"b\\u002f~":2}}', "duplicate_key", 14, "/a/b~1~0"],
    ['[{"é":0,"😀":0,"😀":', "duplicate_key", 18, "/0/😀"],
    ['{"__proto__":1,"__proto__":1}', "duplicate_key", 15, "/__proto__"],
    ['{"a":1} "b"', "trailing", 8, ""],
    ["[] {", "trailing", 3, ""],
    ["1 -2.5e3", "trailing", 2, ""],
    ["null null", "trailing", 5, ""],
    ["1 2E2E8", "trailing", 2, ""],
    ["[] -", "syntax", 3, ""],
    ["[] 1.", "syntax", 3, ""],
    ['[] "open', "syntax", 3, ""],
    ["[]]", "syntax", 2, ""],
    ["0x10", "syntax", 1, ""],
    ['{"n":[0,1e309]}', "number_range", 8, "/n/1"],
    ['["\\ud83d"]', "lone_surrogate", 2, "/0"],
    ['{"é":"\\ud83dx\\ude00"}', "lone_surrogate", 7, "/é"],
    ['{"\\udc00":1}', "lone_surrogate", 2, ""],
    ['["x\ud800"]', "lone_surrogate", 3, "/0"],
    ['["\\ud83d\ude00"]', "lone_surrogate", 2, "/0"],
    ['["\ud83d\\ude00"]', "lone_surrogate", 2, "/0"],
    [" 1", "syntax", 0, ""],
    ["true ", "syntax", 4, ""],
    ["\nnull\n", "syntax", 0, ""],
  ])("%j: %s at %i in %j", (text, code, offset, path) => {
    expect(fault(text)).toEqual([code, offset, path]);
  });

  test("every code is one of JsonErrorCode", () => {
    const codes = ["{", "[] []", '{"":0,"":0}', "1e999", '"\\ud800"'].map(
      (text) => refusal(text).code,
    );
    const deep = [refusal("[[0]]", 1).code, refusal(bytes(0xff)).code];
    expect([...codes, ...deep].toSorted()).toEqual(Object.values(JsonErrorCode).toSorted());
  });
});

describe("parseJson() judges faults in order", () => {
  test.each<[string, string]>([
    ['{"a":1,"a":', "duplicate_key"],
    ['[1,}{"a":1,"a":2}', "syntax"],
    ['{"a":1e999,"a":1}', "duplicate_key"],
    ['["\\ud800"] 1', "trailing"],
    ['["\\ud800",1e999', "syntax"],
    ['["\\ud800",1e999]', "lone_surrogate"],
    ['[1e999,"\\ud800"]', "number_range"],
    [" 1 2", "trailing"],
    [" 1e999", "number_range"],
  ])("%j is refused for %s", (text, code) => {
    expect(refusal(text).code).toBe(code);
  });

  test("invalid UTF-8 anywhere comes before all other faults", () => {
    expect(fault(bytes(0x5b, 0x7d, 0xc3, 0xa9, 0x20, 0xff))).toEqual(["invalid_utf8", 5, ""]);
  });
});

describe("parseJson() takes bytes", () => {
  test.each<[string, number[], number]>([
    ["a stray continuation byte", [0x22, 0x80, 0x22], 1],
    ["an overlong form", [0x22, 0xc0, 0x80, 0x22], 1],
    ["an overlong three-byte form", [0x22, 0xe0, 0x9f, 0xbf, 0x22], 1],
    ["an encoded surrogate", [0x22, 0xed, 0xb0, 0x80, 0x22], 1],
    ["more than U+10FFFF", [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 1],
    ["a byte that is never used", [0x22, 0xf5, 0x80, 0x80, 0x80, 0x22], 1],
    ["a cut sequence at the end", [0x22, 0x61, 0xf0, 0x9f, 0x98], 2],
    ["a cut sequence in the middle", [0x22, 0xf0, 0x9f, 0x22, 0x22], 1],
  ])("and refuses %s", (_name, values, offset) => {
    expect(fault(bytes(...values))).toEqual(["invalid_utf8", offset, ""]);
  });

  test("and reads characters of every length", () => {
    const text = '["a","é","€","😀","\u{10ffff}","\ufffd"]';
    expect(parseJson(new TextEncoder().encode(text))).toEqual(JSON.parse(text));
  });

  test("and keeps a byte order mark, a syntax error", () => {
    expect(fault(bytes(0xef, 0xbb, 0xbf, 0x31))).toEqual(["syntax", 0, ""]);
  });

  test("and refuses other types as a wrong call", () => {
    expect(() => parseJson(42 as never)).toThrow(TypeError);
  });
});

describe("parseJson() counts depth from 0 at the top", () => {
  const arrays = (levels: number, inside = ""): string =>
    "[".repeat(levels) + inside + "]".repeat(levels);

  test("and takes a value at depth 256, none at 257", () => {
    expect(() => parseJson(arrays(257))).not.toThrow();
    expect(() => parseJson(arrays(256, "1"))).not.toThrow();
    expect(fault(arrays(257, "1"))).toEqual(["depth", 257, "/0".repeat(257)]);
    expect(refusal(arrays(258)).code).toBe("depth");
    expect(refusal('{"k":'.repeat(257) + "1" + "}".repeat(257)).code).toBe("depth");
    expect(() => parseJson('{"k":'.repeat(256) + "{}" + "}".repeat(256))).not.toThrow();
  });

  test("and takes another limit from 1 to 1000", () => {
    expect(parseJson("[[]]", { maxDepth: 1 })).toEqual([[]]);
    expect(refusal("[[1]]", 1).code).toBe("depth");
    expect(() => parseJson(arrays(1000, "1"), { maxDepth: 1000 })).not.toThrow();
    expect(() => parseJson("1", { maxDepth: 0 })).toThrow(RangeError);
    expect(() => parseJson("1", { maxDepth: 1001 })).toThrow(RangeError);
  });
});

describe("parseJson() gives what the text says", () => {
  test.each<[string, unknown]>([
    ["null", null],
    ["false", false],
    ["-0.5e1", -5],
    [' "a" ', "a"],
    [" [ ] ", []],
    ["[1e-999]", [0]],
    ["[9007199254740993]", [9007199254740992]],
    ['{"\\u0061":"\\u003a\\/\\ud83d\\ude00"}', { a: ":/😀" }],
    ['{"2":1,"1":2}', { 1: 2, 2: 1 }],
  ])("%s", (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  test.each(['{"__proto__":{"x":1}}', '{"__\\u0070roto__":{"x":1}}'])(
    "%s has an own member of that name",
    (text) => {
      const value = parseJson(text) as object;
      expect(Object.keys(value)).toEqual(["__proto__"]);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(Object.getOwnPropertyDescriptor(value, "__proto__")?.value).toEqual({ x: 1 });
    },
  );

  test("names the keys rightly where V8's JSON.parse may not (nodejs/node#63785)", () => {
    expect(parseJson('{"x":1,"\\\\":2}')).toEqual({ x: 1, "\\": 2 });
    expect(parseJson('{"x":1,"\\u0061":2}')).toEqual({ x: 1, a: 2 });
    JSON.parse('{"x":1,"\\\\":2}');
    expect(parseJson('{"x":1,"\\u0061":2}')).toEqual({ x: 1, a: 2 });
    expect(fastParse('{"x":1,"\\u0061" :2}', 256)).toBeUndefined();
  });

  test("counts no inherited names, so that they hide no repeated member", () => {
    const prototype = Object.prototype as { polluted?: number };
    prototype.polluted = 1;
    try {
      expect(refusal('{"k":1, "k":2}').code).toBe("duplicate_key");
      expect(Object.keys(parseJson('{"k":1}') as object)).toEqual(["k"]);
    } finally {
      delete prototype.polluted;
    }
  });
});

describe("fastParse() proves ordinary frames sound", () => {
  const ids = '"invocation_id":"0190a3c4-7b2e-7c11-8f00-0123456789ab"';
  test.each([
    ["a plain frame", `{"jsonrpc":"2.0",${ids},"n":[1,-20,300,4567,true,false,null,{},[]]}`],
    ["escapes in values", '{"text":"line\\n\\"quoted\\" \\\\ \\u00e9","t":"a\\\\"}'],
    ["colons in strings", '{"at":"2025-01-02T03:04:05Z","url":"https://example.org:8080/"}'],
    ["quotes and colons in strings", '{"json": "{\\"a\\":1}", "n": 0}'],
    ["blanks", '{ "jsonrpc": "2.0", "params": {"at": "03:04", "list": [1, 2, 3]} }'],
    ["fractions", '{"ratio":0.142857142857,"at":"03:04","seconds":1735689600.125,"k":1e22}'],
    ["round numbers", '{"a":1000,"b":1735689600000,"c":-20000000}'],
    ["the name __proto__", '{"__proto__":1,"constructor":2}'],
    ["other characters", '{"é":"☃","😀":"\u2028"}'],
    ["scalars", '"a"'],
  ])("with %s", (_name, text) => {
    expect(fastParse(text, 256)).toEqual(JSON.parse(text));
  });

  test.each([
    ["a name with an escape", '{"\\u0061":1}'],
    ["a surrogate escape", '"\\ud83d\\ude00"'],
    ["a repeated member", '{"a":1,"a":1}'],
    ["a repeated member and colons in strings", '{"a":"::","b":0, "a":1}'],
    ["an infinite number", "[-1e999]"],
    ["bare scalars in blanks", " 1"],
    ["broken text", '{"a":1'],
  ])("and leaves %s to the exact parser", (_name, text) => {
    expect(fastParse(text, 256)).toBeUndefined();
  });
});

// Linear work takes milliseconds here, quadratic work several seconds.
describe("parseJson() takes hostile sizes in its stride", { timeout: 2000 }, () => {
  const MIB = 1 << 20;

  test.each<[string, string, string]>([
    ["brackets", "[".repeat(MIB), "depth"],
    ["braces", "{".repeat(MIB), "syntax"],
    ["nested members", '{"a":'.repeat(MIB / 5), "depth"],
    ["closed brackets", "[".repeat(MIB / 2) + "]".repeat(MIB / 2), "depth"],
    ["100 000 brackets", "[".repeat(100_000), "depth"],
    [
      "brackets below the length that is looked at first",
      "[".repeat(32_000) + "]".repeat(32_000),
      "depth",
    ],
    ["backslashes in an open string", `"${"\\".repeat(MIB)}`, "syntax"],
    ["escapes in an open string", `["${"\\n".repeat(MIB / 2)}`, "syntax"],
    ["unpaired surrogates", `["${"\\ud800".repeat(MIB / 6)}"]`, "lone_surrogate"],
    ["blanks", " ".repeat(MIB), "syntax"],
    [
      "a repeated long name",
      `{"${"a".repeat(MIB / 2)}":1,"${"a".repeat(MIB / 2)}":2}`,
      "duplicate_key",
    ],
    ["digits", `[${"9".repeat(MIB)}]`, "number_range"],
  ])("refuses 1 MiB of %s", (_name, text, code) => {
    const error = refusal(text);
    expect(error.code).toBe(code);
    expect(error.message.length).toBeLessThan(200);
    expect(String(error.data["path"]).length).toBeLessThan(1100);
  });

  test.each<[string, string]>([
    ["colons in a string", `["${":".repeat(MIB)}"]`],
    ["colons and quotes in a string", `{"a":"${'\\":'.repeat(MIB / 3)}"}`],
    ["colons and blanks in a string", `{"a":"${" :".repeat(MIB / 2)}"}`],
    ["backslashes in a string", `["${"\\\\".repeat(MIB / 2)}"]`],
    ["escaped quotes in a name", `{"${'\\"'.repeat(MIB / 2)}":1}`],
    ["strings with an escape", `[${'"\\n",'.repeat(MIB / 5)}0]`],
    ["empty objects", `[${"{},".repeat(MIB / 3)}0]`],
    ["brackets in a string", `["${"[".repeat(MIB)}"]`],
  ])("accepts 1 MiB of %s", (_name, text) => {
    expect(JSON.stringify(parseJson(text)).length).toBe(text.length);
  });

  test("takes no bracket inside a long string for nesting", () => {
    const text = `["${'\\"[\\\\'.repeat(MIB / 5)}"]`;
    expect(fastParse(text, 256)).toEqual(['"[\\'.repeat(MIB / 5)]);
  });

  test("accepts 100 000 members and finds the one that is repeated", () => {
    const members = Array.from({ length: 100_000 }, (_, index) => `"key ${index}":${index}`).join(
      ",",
    );
    expect(Object.keys(parseJson(`{${members}}`) as object)).toHaveLength(100_000);
    expect(fault(`{${members},"key 7":0}`)).toEqual([
      "duplicate_key",
      members.length + 2,
      "/key 7",
    ]);
    expect(Object.keys(parseJson(`{${members},"\\u006b":0}`) as object)).toHaveLength(100_001);
  });
});
