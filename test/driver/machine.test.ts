import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  decodeControlFrame,
  Machine,
  ProtocolError,
  State,
  UsedIds,
} from "../../lib/driver/mod.ts";
import { DIGEST, instanceId, invokeParams, PREPARE, VERSIONS } from "./support/frames.ts";

/** What the machine should be in; `last` is undefined until the first observation. */
interface Model {
  state: State;
  active?: { id: number; attempt: number; last?: number; cancelled: boolean };
  readonly used: Set<number>;
}

interface Step {
  readonly op: keyof typeof STEPS;
  /** Which invocation, which attempt, which number. */
  readonly id: number;
  readonly attempt: number;
  readonly n: number;
  /** Whether it names the invocation under way instead, where there is one. */
  readonly own?: boolean;
}

type Outcome =
  | "ok"
  | "invalid_state"
  | "invalid_request"
  | "malformed_observation"
  | "budget_exceeded";
interface Rule {
  /** What the step should come to; changes the model when it is `ok`. */
  readonly expect: (model: Model, step: Step) => Outcome;
  /** Does it directly. */
  readonly run: (machine: Machine, step: Step) => void;
  /** The message that does the same, where there is one. */
  readonly message?: (step: Step) => object;
}

const CAP = 2;
const ATTEMPT = 0x1000;
const ids = ({ id, attempt }: Step) => ({
  invocation_id: instanceId(id),
  attempt_id: instanceId(ATTEMPT + attempt),
});
const observed = (step: Step) => ({ ...ids(step), sequence: step.n, kind: "k", monotonic_ns: 0 });
const ended = (step: Step) => ({
  ...ids(step),
  status: "completed" as const,
  summary_digest: DIGEST,
  ...(step.n > 0 && { last_sequence: step.n }),
});
const cancel = ({ id }: Step) => ({
  invocation_id: instanceId(id),
  reason: "r",
  deadline_millis: 1,
});
const invoke = (step: Step) => ({ ...invokeParams(), ...ids(step) }) as never;

/** A step from some states to another. */
const move =
  (from: State, to: State) =>
  (model: Model): Outcome => {
    if (model.state !== from) return "invalid_state";
    model.state = to;
    return "ok";
  };
const belongs = ({ active }: Model, { id, attempt }: Step): boolean =>
  active?.id === id && active.attempt === attempt;

function end(model: Model): Outcome {
  model.used.add(model.active!.id);
  delete model.active;
  model.state = State.Prepared;
  return "ok";
}

const STEPS = {
  hello: {
    expect: move(State.New, State.Hello),
    run: (machine) => machine.acceptHello(),
    message: () => ({ id: 1, method: "driver.hello", params: { core_version_range: VERSIONS } }),
  },
  prepare: {
    expect: move(State.Hello, State.Prepared),
    run: (machine) => machine.acceptPrepare(),
    message: () => ({ id: 1, method: "driver.prepare", params: PREPARE }),
  },
  capabilities: {
    expect: ({ state }) =>
      state === State.Hello || state === State.Prepared ? "ok" : "invalid_state",
    run: (machine) => machine.checkCapabilities(),
    message: () => ({ id: 1, method: "driver.capabilities" }),
  },
  invoke: {
    expect: (model, { id, attempt }) => {
      if (model.state !== State.Prepared) return "invalid_state";
      if (model.used.has(id)) return "invalid_request";
      if (model.used.size >= CAP) return "budget_exceeded";
      model.state = State.Invoking;
      model.active = { id, attempt, cancelled: false };
      return "ok";
    },
    run: (machine, step) => machine.beginInvocation(invoke(step)),
    message: (step) => ({ id: 1, method: "driver.invoke", params: invoke(step) }),
  },
  cancel: {
    expect: (model, { id }) => {
      if (model.active === undefined) return "invalid_state";
      if (model.active.id !== id) return "invalid_request";
      model.active.cancelled = true;
      return "ok";
    },
    run: (machine, step) => machine.requestCancel(cancel(step)),
    message: (step) => ({ id: 1, method: "driver.cancel", params: cancel(step) }),
  },
  observe: {
    expect: (model, step) => {
      if (model.active === undefined) return "invalid_state";
      if (!belongs(model, step) || step.n <= (model.active.last ?? -1))
        return "malformed_observation";
      model.active.last = step.n;
      return "ok";
    },
    run: (machine, step) => machine.observe(observed(step)),
    message: (step) => ({ method: "driver.observation", params: observed(step) }),
  },
  complete: {
    expect: (model, step) => {
      if (model.active === undefined) return "invalid_state";
      const last = step.n > 0 ? step.n : undefined;
      if (!belongs(model, step) || last !== model.active.last) return "malformed_observation";
      return end(model);
    },
    run: (machine, step) => machine.complete(ended(step)),
    message: (step) => ({ method: "driver.completed", params: ended(step) }),
  },
  reject: {
    expect: (model, { id }) => {
      if (model.active?.id !== id) return "invalid_state";
      if (model.active.last !== undefined) return "malformed_observation";
      return end(model);
    },
    run: (machine, { id }) => machine.rejectInvocation(instanceId(id)),
  },
  reset: {
    expect: move(State.Prepared, State.Prepared),
    run: (machine) => machine.reset(),
    message: () => ({ id: 1, method: "driver.reset" }),
  },
  shutdown: {
    expect: move(State.Prepared, State.Shutdown),
    run: (machine) => machine.shutdown(),
    message: () => ({ id: 1, method: "driver.shutdown" }),
  },
} satisfies Record<string, Rule>;

/** The ids of the invocation under way. */
function pick({ active }: Model): Pick<Step, "id" | "attempt"> | undefined {
  return active && { id: active.id, attempt: active.attempt };
}

function outcome(action: () => void): string {
  try {
    action();
    return "ok";
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError);
    return (error as ProtocolError).class;
  }
}

function expectSame(machine: Machine, { state, active }: Model): void {
  expect(machine.state).toBe(state);
  expect(machine.active).toEqual(
    active && {
      invocationId: instanceId(active.id),
      attemptId: instanceId(ATTEMPT + active.attempt),
      lastSequence: active.last ?? 0,
      hasObservation: active.last !== undefined,
      cancelRequested: active.cancelled,
    },
  );
}

/** Mostly what moves things on, so that programs get somewhere. */
const step: fc.Arbitrary<Step> = fc.record({
  op: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<keyof typeof STEPS>("invoke", "observe", "complete") },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        ...(Object.keys(STEPS) as (keyof typeof STEPS)[]).filter((op) => op !== "shutdown"),
      ),
    },
    { weight: 1, arbitrary: fc.constant<keyof typeof STEPS>("shutdown") },
  ),
  id: fc.nat({ max: 6 }),
  attempt: fc.nat({ max: 1 }),
  n: fc.nat({ max: 3 }),
  own: fc.boolean(),
});

test("Machine agrees with a model of it, and an operation that fails changes nothing", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40, size: "max" }),
      fc.boolean(),
      (steps, byMessage) => {
        const machine = new Machine(new UsedIds(CAP));
        const model: Model = { state: State.New, used: new Set() };
        const opening: Step[] = ["hello", "prepare"].map(
          (op) => ({ op, id: 0, attempt: 0, n: 0 }) as Step,
        );
        for (const planned of [...opening, ...steps]) {
          const next = planned.own === true ? { ...planned, ...pick(model) } : planned;
          const rule: Rule = STEPS[next.op];
          const wanted = rule.expect(model, next);
          const message = byMessage ? rule.message?.(next) : undefined;
          const got = outcome(() => {
            if (message === undefined) rule.run(machine, next);
            else machine.apply(decodeControlFrame(JSON.stringify({ jsonrpc: "2.0", ...message })));
          });
          seen.add(`${next.op} ${got}`);
          expect([next.op, got]).toEqual([next.op, wanted]);
          expectSame(machine, model);
        }
      },
    ),
    { numRuns: 800 },
  );
  for (const reached of [
    "invoke invalid_request",
    "invoke budget_exceeded",
    "observe malformed_observation",
    "complete ok",
    "reject ok",
    "cancel ok",
    "reject malformed_observation",
    "shutdown ok",
  ])
    expect(seen).toContain(reached);
});

function invoking(machine = new Machine()): Machine {
  machine.acceptHello();
  machine.acceptPrepare();
  machine.beginInvocation(invokeParams(1) as never);
  return machine;
}

const STEP: Step = { op: "observe", id: 1, attempt: 1, n: 5 };

test("Machine judges params before the state", () => {
  const machine = new Machine();
  expect(outcome(() => machine.observe({ ...observed(STEP), kind: "" }))).toBe(
    "malformed_observation",
  );
  expect(outcome(() => machine.observe(observed(STEP)))).toBe("invalid_state");
  expect(outcome(() => machine.beginInvocation(invokeParams(1, { operation: "" }) as never))).toBe(
    "invalid_request",
  );
  expect(outcome(() => machine.requestCancel({ ...cancel(STEP), reason: "" }))).toBe(
    "invalid_request",
  );
});

test("Machine.rejectInvocation() uses the id up and leads back to PREPARED", () => {
  const machine = invoking();
  machine.rejectInvocation(instanceId(1));
  expect(machine.state).toBe(State.Prepared);
  expect(machine.active).toBeUndefined();
  expect(outcome(() => machine.beginInvocation(invokeParams(1) as never))).toBe("invalid_request");
  machine.beginInvocation(invokeParams(2) as never);
});

test("Machine.apply() refuses a response in every state", () => {
  for (const machine of [new Machine(), invoking()])
    expect(outcome(() => machine.apply({ jsonrpc: "2.0", id: 1, result: {} }))).toBe(
      "invalid_request",
    );
});

test("Machine refuses an invocation with session_exhausted once its ids are used up", () => {
  const used = new UsedIds(2);
  const machine = invoking(new Machine(used));
  machine.rejectInvocation(instanceId(1));
  machine.beginInvocation(invokeParams(2) as never);
  machine.complete({
    invocation_id: instanceId(2),
    attempt_id: instanceId(2 + ATTEMPT),
    status: "errored",
    summary_digest: DIGEST,
  });
  expect(() => machine.beginInvocation(invokeParams(3) as never)).toThrow(
    expect.objectContaining({ code: "session_exhausted", class: "budget_exceeded" }),
  );
  expect(machine.state).toBe(State.Prepared);
});

test("Machine.active is a copy", () => {
  const machine = invoking();
  (machine.active as { lastSequence: number }).lastSequence = 99;
  expect(machine.active?.lastSequence).toBe(0);
});
