import { expect, test } from "vitest";
import { SluiceError } from "../../lib/errors.ts";
import { collect, fuse, type Sink, type Stage } from "../../lib/stage/mod.ts";
import { observe, recordingSink, type Seen } from "./observe.ts";
import { each } from "./stages.ts";

/** Pairs inputs up; a single one at the end is handed on alone. */
function pairs(): Stage<string, string> {
  let held: string | undefined;
  return {
    push(inputs, sink) {
      for (const input of inputs) {
        if (held !== undefined) sink.next([held + input]);
        held = held === undefined ? input : undefined;
      }
    },
    end(sink) {
      if (held !== undefined) sink.next([held]);
    },
  };
}

test("fuse() runs the stages one after the other and ends them in order", () => {
  const stage = fuse(
    each<number, string>((n) => `${n}`),
    pairs(),
    pairs(),
    each<string, string>((s) => `<${s}>`),
  );
  expect(collect(stage, [1, 2, 3, 4, 5, 6, 7]).values).toEqual(["<1234>", "<567>"]);
});

test("fuse() keeps the faults of every stage in place", () => {
  const refuse = (bad: number, code: string): Stage<number, number> =>
    each((n) => {
      if (n === bad) return new SluiceError(code, "Refused");
      return n;
    });
  const stage = fuse(refuse(2, "first"), refuse(4, "second"), refuse(3, "third"));
  expect(
    observe(stage, [
      [1, 2, 3],
      [4, 5],
    ]),
  ).toEqual([
    { value: 1 },
    { fault: "first", data: {} },
    { fault: "third", data: {} },
    { fault: "second", data: {} },
    { value: 5 },
  ]);
});

test("fuse() pushes nothing into a later stage once the sink is closed, even by a stage that does not look", () => {
  const later: number[] = [];
  const blind: Stage<number, number> = {
    push: (inputs, sink) => inputs.forEach((input) => sink.next([input])),
    end: () => undefined,
  };
  const sink: Sink<number> & { open: boolean } = {
    open: true,
    next: () => void (sink.open = false),
    fail: () => undefined,
  };
  const stage = fuse(blind, {
    push(inputs: readonly number[], inner: Sink<number>) {
      later.push(...inputs);
      inner.next(inputs);
    },
    end: () => undefined,
  });
  stage.push([1, 2, 3], sink);
  expect(later).toEqual([1]);
});

test("fuse() hands on what was made before a stage throws", () => {
  const seen: Seen<number>[] = [];
  const stage = fuse(
    each<number, number>((n) => n),
    {
      push(inputs: readonly number[], sink: Sink<number>) {
        sink.next(inputs);
        throw new Error("broken");
      },
      end: () => undefined,
    },
  );
  expect(() => stage.push([1], recordingSink(seen))).toThrow("broken");
  expect(seen).toEqual([{ value: 1 }]);
});

test("fuse() takes one stage as it is, and refuses none", () => {
  const stage = each<number, number>((n) => n);
  expect(fuse(stage)).toBe(stage);
  expect(() => (fuse as () => unknown)()).toThrow(TypeError);
});

test("collect() keeps values and faults in one order", () => {
  const fault = new SluiceError("odd", "Odd");
  const { values, faults, events } = collect(
    each<number, number>((n) => (n % 2 === 1 ? fault : n)),
    [2, 3, 4],
  );
  expect(values).toEqual([2, 4]);
  expect(faults).toEqual([fault]);
  expect(events).toEqual([{ value: 2 }, { fault }, { value: 4 }]);
});
