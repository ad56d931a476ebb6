import { expect, test } from "vitest";
import { strictJson, type JsonValue } from "../../lib/json/mod.ts";
import { collect } from "../../lib/stage/collect.ts";
import type { Sink } from "../../lib/stage/stage.ts";

function recording(): { sink: Sink<JsonValue> & { open: boolean }; calls: unknown[] } {
  const calls: unknown[] = [];
  return {
    calls,
    sink: {
      open: true,
      next: (values) => void calls.push(values),
      fail: (fault) => void calls.push(fault.code),
    },
  };
}

test("strictJson() reports a bad text in its place and parses the ones after it", () => {
  const { events } = collect(strictJson(), ["1", '{"a":1,"a":2}', "[]", "{", '"x"']);
  expect(events.map((event) => ("fault" in event ? event.fault.code : event.value))).toEqual([
    1,
    "duplicate_key",
    [],
    "syntax",
    "x",
  ]);
});

test("strictJson() hands on what it has before it reports a fault", () => {
  const { sink, calls } = recording();
  strictJson().push(["1", "2", "tru", "[3]"], sink);
  expect(calls).toEqual([[1, 2], "syntax", [[3]]]);
});

test("strictJson() hands on batches of at most 64", () => {
  const { sink, calls } = recording();
  strictJson().push(
    Array.from({ length: 130 }, (_, index) => String(index)),
    sink,
  );
  expect(calls.map((batch) => (batch as unknown[]).length)).toEqual([64, 64, 2]);
  expect(calls.flat()).toEqual(Array.from({ length: 130 }, (_, index) => index));
});

test("strictJson() hands on nothing for an empty batch", () => {
  const { sink, calls } = recording();
  strictJson().push([], sink);
  expect(calls).toEqual([]);
});

test("strictJson() parses nothing more once the sink is closed", () => {
  const { sink, calls } = recording();
  sink.fail = () => (sink.open = false);
  strictJson().push(["1", "{", "2", "{"], sink);
  expect(calls).toEqual([[1]]);
});

test("strictJson() keeps the fault's data and applies maxDepth", () => {
  const { faults } = collect(strictJson({ maxDepth: 1 }), ['{"a":[0]}']);
  expect(faults[0]).toMatchObject({ code: "depth", data: { offset: 6, path: "/a/0" } });
  expect(() => strictJson({ maxDepth: 0 })).toThrow(RangeError);
});

test("strictJson() with wellFormed refuses unpaired surrogate escapes all the same", () => {
  const texts = ['"\\ud800"', '"é☃"', '{"\\u0061":1}'];
  const { values, faults } = collect(strictJson({ wellFormed: true }), texts);
  expect(values).toEqual(["é☃", { a: 1 }]);
  expect(faults.map((fault) => fault.code)).toEqual(["lone_surrogate"]);
});
