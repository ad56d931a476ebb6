import { expect, test } from "vitest";
import { escapeSurplus } from "../../lib/json/escape-surplus.ts";
import { fastParse } from "../../lib/json/fast-parse.ts";

test.each<[string, number]>([
  ['{"a":"b"}', 0],
  ['"\\n"', 1],
  ['["\\\\","\\"",":"]', 2],
  ['"\\u00e9"', 5],
  ['{"a":"\\u0041\\t","b":"\\\\u0041"} ', 7],
])(
  "escapeSurplus() counts what the escapes of %s take beyond their characters",
  (text, surplus) => {
    expect(escapeSurplus(text)).toBe(surplus);
    const value: unknown = JSON.parse(text);
    if (typeof value === "string") expect(text.length - surplus).toBe(value.length + 2);
  },
);

test.each([
  '{"\\u0061":1}',
  '{"a\\n" \t\r\n :1}',
  '{"\\"":1}',
  '[{"x":"\\n"},{"\\\\":1}]',
  '"\\uD83D\\uDE00"',
  '"\\udfff"',
  '"\\n',
])("escapeSurplus() leaves %s to the exact parser", (text) => {
  expect(escapeSurplus(text)).toBe(-1);
});

test.each([
  "\\n",
  "\\u0041",
  "\\u0041\\u0042",
  "\\n\\u00e9\\n",
  '\\"'.repeat(20),
  "\\u0041".repeat(20),
])("fastParse() is not led by the escapes %s to pass over a repeated member", (escapes) => {
  expect(fastParse(`{"":0,"":"${escapes}"}`, 256)).toBeUndefined();
  expect(fastParse(`{"":"${escapes}","":0}`, 256)).toBeUndefined();
});
