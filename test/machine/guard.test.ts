import { expect, test } from "vitest";
import { SluiceError } from "../../lib/errors.ts";
import { guard, tableMachine, validate } from "../../lib/machine/mod.ts";
import type { StateMachine } from "../../lib/machine/mod.ts";
import type { StandardSchemaV1 } from "../../lib/schema/mod.ts";
import { collect } from "../../lib/stage/collect.ts";
import type { Sink } from "../../lib/stage/stage.ts";

const turns = () =>
  tableMachine({
    initial: "ping",
    transitions: { ping: { ping: "pong" }, pong: { pong: "ping" } },
    eventOf: (message: string) => message,
  });

/** A sink that keeps batches, and closes after a number of values. */
function batches<O>(limit = Infinity): Sink<O> & { got: (readonly O[] | SluiceError)[] } {
  let left = limit;
  const got: (readonly O[] | SluiceError)[] = [];
  return {
    got,
    get open() {
      return left > 0;
    },
    next(outputs) {
      left -= outputs.length;
      got.push(outputs);
    },
    fail(fault) {
      got.push(fault);
    },
  };
}

test("guard() hands on what the machine allows and faults in place", () => {
  const { events } = collect(guard(turns()), ["ping", "ping", "pong", "pong", "ping"]);
  expect(events.map((event) => ("value" in event ? event.value : event.fault.code))).toEqual([
    "ping",
    "invalid_state",
    "pong",
    "invalid_state",
    "ping",
  ]);
});

test("guard() keeps order within one batch", () => {
  const sink = batches<string>();
  guard(turns()).push(["ping", "pong", "pong", "ping"], sink);
  expect(sink.got).toEqual([["ping", "pong"], expect.any(SluiceError), ["ping"]]);
});

test("guard() gives its direction to the machine, `in` when left out", () => {
  const seen: string[] = [];
  const machine: StateMachine<string> = {
    state: "s",
    apply: (_message, direction) => void seen.push(direction),
  };
  collect(guard(machine), ["a"]);
  collect(guard(machine, { direction: "out" }), ["b"]);
  expect(seen).toEqual(["in", "out"]);
});

test("guard() keeps a coded error and wraps any other", () => {
  const coded = new SluiceError("my_code", "Mine");
  const plain = new Error("plain");
  const thrown: unknown[] = [coded, plain];
  const machine: StateMachine<string> = {
    state: "s",
    apply() {
      throw thrown.shift();
    },
  };
  const { faults } = collect(guard(machine), ["a", "b"]);
  expect(faults[0]).toBe(coded);
  expect(faults[1]).toMatchObject({ code: "invalid_state", cause: plain });
});

test("guard() hands on at most 64 messages at once", () => {
  const machine: StateMachine<number> = { state: "s", apply() {} };
  const sink = batches<number>();
  guard(machine).push(
    Array.from({ length: 150 }, (_, k) => k),
    sink,
  );
  expect(sink.got.map((batch) => (batch as number[]).length)).toEqual([64, 64, 22]);
  expect(sink.got.flat()).toEqual(Array.from({ length: 150 }, (_, k) => k));
});

test("guard() moves the machine no further once the sink is closed", () => {
  let applied = 0;
  const machine: StateMachine<number> = { state: "s", apply: () => void (applied += 1) };
  const sink = batches<number>(64);
  guard(machine).push(
    Array.from({ length: 150 }, (_, k) => k),
    sink,
  );
  expect(applied).toBe(64);
});

const digits: StandardSchemaV1<unknown, number> = {
  "~standard": {
    version: 1,
    vendor: "hand",
    validate(value) {
      if (value === "later") return Promise.resolve({ value: 1 });
      if (value === "broken") throw new TypeError("broken schema");
      return typeof value === "string" && /^\d+$/u.test(value)
        ? { value: Number(value) }
        : { issues: [{ message: "Expected digits" }] };
    },
  },
};

test("validate() hands on the schema's output and faults in place", () => {
  const { events } = collect(validate(digits), ["1", "x", 2, "3"]);
  expect(events.map((event) => ("value" in event ? event.value : event.fault.code))).toEqual([
    1,
    "schema_mismatch",
    "schema_mismatch",
    3,
  ]);
});

test("validate() throws async_schema after handing on what came before", () => {
  const sink = batches<number>();
  expect(() => validate(digits).push(["1", "later", "2"], sink)).toThrow(
    "validates asynchronously",
  );
  expect(sink.got).toEqual([[1]]);
});

test("validate() throws what a broken schema throws", () => {
  expect(() => collect(validate(digits), ["broken"])).toThrow(TypeError);
});
