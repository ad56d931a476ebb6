import * as fc from "fast-check";
import { expect, test } from "vitest";
import { tableMachine } from "../../lib/machine/mod.ts";
import type { Direction } from "../../lib/machine/mod.ts";

const eventOf = (message: string): string | undefined =>
  message === "noise" ? undefined : message;
const door = () =>
  tableMachine({
    initial: "closed",
    transitions: {
      closed: { open: "open", lock: "locked" },
      open: { close: "closed" },
      locked: { unlock: "closed" },
      gone: {},
    },
    eventOf,
  });

test("tableMachine() follows its table", () => {
  const machine = door();
  expect(machine.state).toBe("closed");
  for (const [event, state] of [
    ["open", "open"],
    ["close", "closed"],
    ["lock", "locked"],
  ] as const) {
    machine.apply(event, "in");
    expect(machine.state).toBe(state);
  }
});

test("tableMachine() names state, event and what is allowed, and stays as it was", () => {
  const machine = door();
  expect(() => machine.apply("close", "in")).toThrow(
    'Event "close" is not allowed in state "closed"; allowed: open, lock',
  );
  try {
    machine.apply("close", "in");
  } catch (thrown) {
    expect(thrown).toMatchObject({
      code: "invalid_state",
      data: { state: "closed", event: "close", allowed: ["open", "lock"] },
    });
  }
  expect(machine.state).toBe("closed");
});

test("tableMachine() lets a message without an event pass", () => {
  const machine = door();
  machine.apply("noise", "in");
  expect(machine.state).toBe("closed");
});

test("tableMachine() gives the direction to eventOf", () => {
  const seen: Direction[] = [];
  const machine = tableMachine({
    initial: "a",
    transitions: { a: { x: "a" } },
    eventOf: (_message: string, direction) => {
      seen.push(direction);
      return "x";
    },
  });
  machine.apply("m", "in");
  machine.apply("m", "out");
  expect(seen).toEqual(["in", "out"]);
});

test("tableMachine() takes no event from Object.prototype", () => {
  for (const event of ["toString", "__proto__", "constructor", "hasOwnProperty"]) {
    expect(() => door().apply(event, "in")).toThrow("is not allowed");
  }
});

test("tableMachine() says that a final state allows nothing", () => {
  const machine = tableMachine({
    initial: "a",
    transitions: { a: { end: "z" }, z: {} },
    eventOf,
  });
  machine.apply("end", "in");
  expect(() => machine.apply("end", "in")).toThrow('state "z"; no event is');
});

test("tableMachine() refuses a target or an initial state that is not in the table", () => {
  const transitions: Record<string, Record<string, string>> = { a: { x: "b" } };
  expect(() => tableMachine({ initial: "a", transitions, eventOf })).toThrow(RangeError);
  expect(() => tableMachine({ initial: "a", transitions, eventOf })).toThrow(
    'The target of event "x" in state "a" must be a state of the table (a), got "b"',
  );
  expect(() =>
    tableMachine({
      initial: "c",
      transitions: { a: {} } as Record<string, object>,
      eventOf,
    } as never),
  ).toThrow('The initial state must be a state of the table (a), got "c"');
});

test("tableMachine() cuts a long event's name", () => {
  try {
    door().apply("x".repeat(100_000), "in");
    expect.unreachable();
  } catch (thrown) {
    expect((thrown as Error).message.length).toBeLessThan(300);
  }
});

test("tableMachine() agrees with a lookup for any events", () => {
  const table = { a: { x: "b", y: "a" }, b: { x: "c" }, c: { z: "a" } } as const;
  fc.assert(
    fc.property(fc.array(fc.constantFrom("x", "y", "z", "w")), (events) => {
      const machine = tableMachine({ initial: "a", transitions: table, eventOf });
      let state: "a" | "b" | "c" = "a";
      for (const event of events) {
        const next: "a" | "b" | "c" | undefined = (table[state] as Record<string, "a" | "b" | "c">)[
          event
        ];
        if (next === undefined) expect(() => machine.apply(event, "in")).toThrow();
        else {
          machine.apply(event, "in");
          state = next;
        }
        expect(machine.state).toBe(state);
      }
    }),
  );
});
