import { describe, expect, test } from "vitest";
import { State } from "../../lib/driver/mod.ts";
import { errorOf, instanceId, observation } from "./support/frames.ts";
import {
  connected,
  failureOf,
  heard,
  invoked,
  prepared,
  range,
  sequences,
  settle,
  settled,
} from "./support/session.ts";

test("invoke() sends the operation and hands on what comes, in order, to the completion", async () => {
  const session = await prepared();
  const { driver, other } = session;
  const run = driver.invoke("chat.create", {
    invocationId: instanceId(1),
    attemptId: instanceId(2),
    inputHandle: { kind: "socket", value: "/tmp/in" },
  });
  expect(driver.state).toBe(State.Invoking);
  const { id, params } = await other.expect("driver.invoke");
  expect(params).toEqual({
    invocation_id: instanceId(1),
    attempt_id: instanceId(2),
    operation: "chat.create",
    ephemeral_exact_input_handle: { kind: "socket", value: "/tmp/in" },
  });
  const ids = { invocation_id: instanceId(1), attempt_id: instanceId(2) };
  void other.say(
    { id, result: {} },
    observation(ids, 3, { payload: null }),
    observation(ids, 7, { kind: "other", payload: { a: [1] }, monotonic_ns: 9 }),
    observation(ids, 9, { data_stream: { stream_id: "s" } }),
  );
  other.complete(ids, 9, { status: "errored" });
  const seen: unknown[] = [];
  for await (const observed of run) seen.push(observed);
  expect(seen).toEqual([
    { sequence: 3, kind: "k", monotonic_ns: 1, payload: null },
    { sequence: 7, kind: "other", monotonic_ns: 9, payload: { a: [1] } },
    { sequence: 9, kind: "k", monotonic_ns: 1, data_stream: { stream_id: "s" } },
  ]);
  expect(await run.completed).toMatchObject({ status: "errored", last_sequence: 9 });
  expect(await run.completed).not.toHaveProperty("cancelled");
  expect(await run.accepted).toEqual({});
  expect(driver.state).toBe(State.Prepared);
});

test("invoke() makes fresh ids of version 7 and gives an empty input by default", async () => {
  const session = await prepared();
  const { run, ids } = await invoked(session);
  expect(ids).toMatchObject({
    invocation_id: run.invocationId,
    attempt_id: run.attemptId,
    ephemeral_exact_input_handle: { kind: "pipe", value: "/dev/null" },
  });
  expect(run.invocationId).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(run.invocationId).not.toBe(run.attemptId);
});

describe("invoke() refuses through the run, and sends nothing:", () => {
  test("before prepare()", async () => {
    const { driver } = await connected();
    const sent = driver.stats.framesOut;
    const run = driver.invoke("op");
    expect(await failureOf(run.completed)).toMatchObject({ class: "invalid_state" });
    expect(await failureOf(run.accepted)).toMatchObject({ class: "invalid_state" });
    expect(await failureOf(sequences(run))).toMatchObject({ class: "invalid_state" });
    expect(driver.stats.framesOut).toBe(sent);
  });

  test.each<[string, string, object, object]>([
    ["an operation that is not offered", "c", {}, { class: "capability_mismatch" }],
    ["an invocation id that is none", "a", { invocationId: "x" }, { class: "invalid_request" }],
    [
      "an input handle that is none",
      "a",
      { inputHandle: { kind: "file", value: "x" } },
      { class: "invalid_request" },
    ],
    [
      "a signal that has aborted",
      "a",
      { signal: AbortSignal.abort("no") },
      { code: "aborted", cause: "no" },
    ],
  ])("%s", async (_, operation, options, wanted) => {
    const { driver, other } = await prepared({}, { operations: ["a", "b"] });
    const sent = driver.stats.framesOut;
    const run = driver.invoke(operation, options);
    expect(await failureOf(run.completed)).toMatchObject(wanted);
    expect(await failureOf(run.accepted)).toMatchObject(wanted);
    expect(driver.stats.framesOut).toBe(sent);
    // The session goes on.
    driver.invoke("b");
    await heard(other);
  });

  test("an operation too large for a frame, which uses its id up", async () => {
    const session = await prepared();
    const run = session.driver.invoke("x".repeat(2 ** 20), { invocationId: instanceId(1) });
    expect(await failureOf(run.completed)).toMatchObject({ class: "budget_exceeded" });
    const again = session.driver.invoke("op", { invocationId: instanceId(1) });
    expect(await failureOf(again.completed)).toMatchObject({ class: "invalid_request" });
    await invoked(session);
  });

  test("an invocation id that was used", async () => {
    const session = await prepared();
    const { run, id, ids } = await invoked(session, { invocationId: instanceId(1) });
    void session.other.say({ id, result: {} });
    session.other.complete(ids);
    await run.completed;
    const again = session.driver.invoke("op", { invocationId: instanceId(1) });
    expect(await failureOf(again.completed)).toMatchObject({ class: "invalid_request" });
    await invoked(session, { attemptId: ids.attempt_id });
  });

  test("one more than the session has ids for", async () => {
    const session = await prepared({ usedIds: 1 });
    const { id, ids } = await invoked(session);
    void session.other.say({ id, result: {} });
    session.other.complete(ids);
    await settle();
    expect(await failureOf(session.driver.invoke("op").completed)).toMatchObject({
      code: "session_exhausted",
      class: "budget_exceeded",
    });
  });
});

test("invoke() throws RangeError for a time limit that is negative or not finite", async () => {
  const { driver } = await prepared();
  for (const limit of [-1, Number.NaN, Infinity]) {
    expect(() => driver.invoke("op", { timeout: limit })).toThrow(RangeError);
    expect(() => driver.invoke("op", { idleTimeout: limit })).toThrow(RangeError);
  }
});

test("invoke() runs one at a time, in order, and bounds the queue", async () => {
  const session = await prepared({ invokeQueue: 2 });
  const { driver, other } = session;
  const first = await invoked(session);
  const [second, third] = [driver.invoke("op"), driver.invoke("op")];
  const refused = driver.invoke("op");
  expect(await failureOf(refused.completed)).toMatchObject({
    code: "invoke_queue_full",
    class: "budget_exceeded",
  });
  void other.say({ id: first.id, result: {} });
  other.complete(first.ids);
  await first.run.completed;
  const next = await heard(other);
  expect(next.ids.invocation_id).toBe(second.invocationId);
  void other.say({ id: next.id, result: {} });
  other.complete(next.ids);
  const last = await heard(other);
  expect(last.ids.invocation_id).toBe(third.invocationId);
  expect(driver.stats.framesOut).toBe(5);
});

describe("the response to driver.invoke", () => {
  test("may come after the completion, within the grace", async () => {
    const session = await prepared({ responseGrace: 100 });
    const { run, id, ids } = await invoked(session);
    session.other.complete(ids);
    expect(await run.completed).toMatchObject({ status: "completed" });
    session.clock.advance(99);
    void session.other.say({ id, result: { odd: 1 } });
    expect(await run.accepted).toEqual({ odd: 1 });
    expect(session.clock.pending).toBe(0);
  });

  test("that does not come in time rejects accepted with no_response; a late one is dropped", async () => {
    const session = await prepared({ responseGrace: 100 });
    const { driver, other, clock } = session;
    const { run, id, ids } = await invoked(session);
    other.complete(ids);
    await run.completed;
    clock.advance(100);
    expect(await failureOf(run.accepted)).toMatchObject({ code: "no_response" });
    void other.say({ id, result: {} });
    await settle();
    const again = await invoked(session);
    void other.say({ id: again.id, result: {} });
    other.complete(again.ids);
    await again.run.completed;
    expect(driver.state).toBe(State.Prepared);
  });

  test("that is late and an error after no_response is dropped too", async () => {
    const session = await prepared({ responseGrace: 100 });
    const { run, id, ids } = await invoked(session);
    session.other.complete(ids);
    await run.completed;
    session.clock.advance(100);
    void session.other.say({ id, error: errorOf("driver_internal") });
    await invoked(session);
  });

  test("is not subject to the request timeout", async () => {
    const session = await prepared({ requestTimeout: 10 });
    const { run, id } = await invoked(session);
    session.clock.advance(60_000);
    void session.other.say({ id, result: "opaque" });
    expect(await run.accepted).toBe("opaque");
  });

  test("that is an error means that it never ran: the run rejects, its id is used up, the next one works", async () => {
    const session = await prepared();
    const { driver, other } = session;
    const { run, id, ids } = await invoked(session, { invocationId: instanceId(1) });
    void other.say({ id, error: errorOf("capability_mismatch", "cannot") });
    for (const promise of [run.completed, run.accepted, sequences(run)])
      expect(await failureOf(promise)).toMatchObject({ class: "capability_mismatch" });
    // Late frames of it are dropped.
    other.observe(ids, 1);
    other.complete(ids, 1);
    const again = driver.invoke("op", { invocationId: instanceId(1) });
    expect(await failureOf(again.completed)).toMatchObject({ class: "invalid_request" });
    await invoked(session);
  });

  test("that is an error lets the queued invocation start", async () => {
    const session = await prepared();
    const { id } = await invoked(session);
    const queued = session.driver.invoke("op");
    void session.other.say({ id, error: errorOf("driver_internal") });
    expect((await heard(session.other)).ids.invocation_id).toBe(queued.invocationId);
  });

  test.each(["an observation", "the completion"])(
    "that is an error after %s ends the session",
    async (when) => {
      const session = await prepared();
      const { driver, other } = session;
      const { run, id, ids } = await invoked(session);
      if (when === "an observation") other.observe(ids, 1);
      else other.complete(ids);
      await settle();
      void other.say({ id, error: errorOf("driver_internal") });
      expect((await driver.ended).reason).toMatchObject({
        code: "protocol_fault",
        class: "malformed_observation",
      });
      expect(await failureOf(run.accepted)).toMatchObject({ code: "protocol_fault" });
    },
  );

  test("that is of a driver that has gone rejects with the end of the session", async () => {
    const session = await prepared();
    const { run, ids } = await invoked(session);
    session.other.complete(ids);
    await session.other.hangUp();
    expect(await run.completed).toMatchObject({ status: "completed" });
    expect(await failureOf(run.accepted)).toMatchObject({ code: "connection_closed" });
  });
});

test("late frames of an invocation that has ended are dropped, whatever they say", async () => {
  const session = await prepared();
  const { driver, other } = session;
  const { run, id, ids } = await invoked(session);
  void other.say({ id, result: {} });
  other.observe(ids, 1);
  other.complete(ids, 1);
  expect(await sequences(run)).toEqual([1]);
  other.observe(ids, 1, 2);
  other.complete(ids, 99);
  other.complete({ ...ids, attempt_id: instanceId(77) });
  await settle();
  const next = await invoked(session);
  other.observe(ids, 3);
  other.observe(next.ids, 1);
  other.complete(next.ids, 1);
  expect(await sequences(next.run)).toEqual([1]);
  expect(driver.state).toBe(State.Prepared);
});

test("only the last ended invocations are remembered: a frame of a forgotten one is a fault", async () => {
  const session = await prepared({ tombstones: 1 });
  const first = await invoked(session);
  void session.other.say({ id: first.id, result: {} });
  session.other.complete(first.ids);
  const second = await invoked(session);
  void session.other.say({ id: second.id, result: {} });
  session.other.complete(second.ids);
  session.other.observe(second.ids, 1);
  expect(await settled(session.driver.ended)).toBe(false);
  session.other.observe(first.ids, 1);
  expect((await session.driver.ended).reason).toMatchObject({ class: "malformed_observation" });
});

test("a run that was completed before anybody looked gives all it holds, then the end", async () => {
  const session = await prepared();
  const { run, id, ids } = await invoked(session);
  void session.other.say({ id, result: {} });
  session.other.observe(ids, ...range(1, 50));
  session.other.complete(ids, 50);
  await settle();
  expect(session.driver.state).toBe(State.Prepared);
  expect(await sequences(run)).toEqual(range(1, 50));
});

test("a run gives what came before the session ended, then the reason", async () => {
  const session = await prepared();
  const { run, ids } = await invoked(session);
  session.other.observe(ids, 1, 2);
  await session.other.hangUp();
  const steps = run[Symbol.asyncIterator]();
  await session.driver.ended;
  expect(await steps.next()).toMatchObject({ value: { sequence: 1 } });
  expect(await steps.next()).toMatchObject({ value: { sequence: 2 } });
  expect(await failureOf(steps.next())).toMatchObject({ code: "connection_closed" });
  expect(await failureOf(run.completed)).toMatchObject({ code: "connection_closed" });
});
