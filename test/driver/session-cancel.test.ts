import { describe, expect, test } from "vitest";
import type { Run } from "../../lib/driver/mod.ts";
import { errorOf, instanceId } from "./support/frames.ts";
import {
  failureOf,
  heard,
  invoked,
  prepared,
  range,
  sequences,
  settle,
  settled,
} from "./support/session.ts";

/** The ways in which a host gives a run up for good. */
const WAYS: readonly (readonly [
  string,
  (run: Run, controller: AbortController) => void,
  string,
])[] = [
  ["run.cancel()", (run) => run.cancel("why"), "aborted"],
  ["an aborted signal", (_, controller) => controller.abort("why"), "aborted"],
];

describe.each(WAYS)("%s", (_, cancel, code) => {
  test("ends the loop at once, asks the driver, and drains to the completion", async () => {
    const session = await prepared({ cancelDeadline: 100 });
    const controller = new AbortController();
    const { run, ids, id } = await invoked(session, { signal: controller.signal });
    session.other.observe(ids, 1, 2);
    const steps = run[Symbol.asyncIterator]();
    expect(await steps.next()).toMatchObject({ value: { sequence: 1 } });
    const waiting = settled(steps.next());
    await waiting;
    const pending = failureOf(steps.next());
    cancel(run, controller);
    expect(await pending).toMatchObject({ code, cause: "why" });
    expect(await failureOf(steps.next())).toMatchObject({ code });
    const request = await session.other.expect("driver.cancel");
    expect(request.params).toMatchObject({
      invocation_id: ids.invocation_id,
      deadline_millis: 100,
    });
    void session.other.say({ id, result: {} }, { id: request.id, result: { acknowledged: false } });
    session.other.observe(ids, ...range(3, 200));
    expect(await settled(run.completed)).toBe(false);
    session.other.complete(ids, 200, { status: "cancelled" });
    expect(await run.completed).toMatchObject({ status: "cancelled", cancelled: { code } });
    expect(session.clock.pending).toBe(0);
    await invoked(session);
  });

  test("of a run that waits for its turn sends nothing", async () => {
    const session = await prepared();
    const first = await invoked(session);
    const controller = new AbortController();
    const queued = session.driver.invoke("op", { signal: controller.signal });
    const sent = session.driver.stats.framesOut;
    cancel(queued, controller);
    expect(await failureOf(queued.completed)).toMatchObject({ code });
    expect(await failureOf(sequences(queued))).toMatchObject({ code });
    session.other.complete(first.ids);
    await settle();
    expect(session.driver.stats.framesOut).toBe(sent);
  });

  test("after the completion does nothing", async () => {
    const session = await prepared();
    const controller = new AbortController();
    const { run, ids, id } = await invoked(session, { signal: controller.signal });
    void session.other.say({ id, result: {} });
    session.other.observe(ids, 1);
    session.other.complete(ids, 1);
    expect(await run.completed).toMatchObject({ status: "completed" });
    const sent = session.driver.stats.framesOut;
    cancel(run, controller);
    expect(await sequences(run)).toEqual([1]);
    expect(session.driver.stats.framesOut).toBe(sent);
  });

  test("in the same step as the invoke cancels what was just sent", async () => {
    const session = await prepared();
    const controller = new AbortController();
    const run = session.driver.invoke("op", { signal: controller.signal });
    cancel(run, controller);
    const { ids } = await heard(session.other);
    await session.other.expect("driver.cancel");
    session.other.complete(ids, undefined, { status: "cancelled" });
    expect(await run.completed).toMatchObject({ cancelled: { code } });
  });
});

test("a cancel is sent once, whatever else happens to the run", async () => {
  const session = await prepared({ cancelDeadline: 1000 });
  const controller = new AbortController();
  const { run, ids } = await invoked(session, {
    signal: controller.signal,
    timeout: 50,
    idleTimeout: 50,
  });
  const steps = run[Symbol.asyncIterator]();
  run.cancel("first");
  run.cancel("second");
  controller.abort("third");
  session.clock.advance(60);
  await steps.return?.();
  await session.other.expect("driver.cancel");
  const sent = session.driver.stats.framesOut;
  session.other.complete(ids, undefined, { status: "completed" });
  expect(await run.completed).toMatchObject({ cancelled: { code: "aborted", cause: "first" } });
  expect(session.driver.stats.framesOut).toBe(sent);
});

test("the total timeout counts the time in the queue and cancels what runs", async () => {
  const session = await prepared();
  const first = await invoked(session);
  const queued = session.driver.invoke("op", { timeout: 100 });
  const dropped = session.driver.invoke("op", { timeout: 50 });
  session.clock.advance(60);
  expect(await failureOf(dropped.completed)).toMatchObject({
    code: "invocation_timeout",
    data: { timeout: 50 },
  });
  session.other.complete(first.ids);
  const { ids } = await heard(session.other);
  expect(ids.invocation_id).toBe(queued.invocationId);
  session.clock.advance(40);
  await session.other.expect("driver.cancel");
  session.other.complete(ids);
  expect(await run_cause(queued)).toBe("invocation_timeout");
});

async function run_cause(run: Run): Promise<string | undefined> {
  return (await run.completed).cancelled?.code;
}

test("a timeout of 0 is none", async () => {
  const session = await prepared();
  const { run, ids } = await invoked(session, { timeout: 0, idleTimeout: 0 });
  session.clock.advance(1_000_000);
  session.other.complete(ids);
  expect(await run_cause(run)).toBeUndefined();
});

test("the idle timeout is reset by each observation", async () => {
  const session = await prepared();
  const { run, ids, id } = await invoked(session, { idleTimeout: 100 });
  const loop = failureOf(sequences(run));
  for (const sequence of range(1, 5)) {
    session.clock.advance(90);
    session.other.observe(ids, sequence);
    await settle();
  }
  session.clock.advance(90);
  // An answer is no observation.
  void session.other.say({ id, result: {} });
  await settle();
  session.clock.advance(10);
  expect(await loop).toMatchObject({ code: "idle_timeout", data: { timeout: 100 } });
  session.other.complete(ids, 5);
  await run.completed;
});

test("a driver that does not end a cancelled invocation in time is ended with cancellation_timeout", async () => {
  const session = await prepared({ cancelDeadline: 100 });
  const { run, ids } = await invoked(session);
  const queued = session.driver.invoke("op");
  run.cancel();
  const { id } = await session.other.expect("driver.cancel");
  // What it answers proves nothing.
  void session.other.say({ id, result: { acknowledged: true } });
  session.other.observe(ids, 1);
  await settle();
  session.clock.advance(99);
  expect(await settled(session.driver.ended)).toBe(false);
  session.clock.advance(1);
  for (const promise of [run.completed, run.accepted, queued.completed])
    expect(await failureOf(promise)).toMatchObject({ class: "cancellation_timeout" });
  expect((await session.driver.ended).reason).toMatchObject({
    class: "cancellation_timeout",
    cause: { code: "aborted" },
  });
});

test("what the driver answers to a cancel is ignored: an error, nonsense, nothing", async () => {
  const session = await prepared({ cancelDeadline: 100 });
  for (const answer of [
    { error: errorOf("invalid_state") },
    { error: errorOf("invalid_request") },
    { result: 5 },
  ]) {
    const { run, id, ids } = await invoked(session);
    run.cancel();
    const request = await session.other.expect("driver.cancel");
    void session.other.say({ id, result: {} });
    session.other.complete(ids);
    void session.other.say({ id: request.id, ...answer });
    expect(await run.completed).toMatchObject({ status: "completed" });
  }
  const { run, id, ids } = await invoked(session);
  run.cancel();
  const request = await session.other.expect("driver.cancel");
  void session.other.say({ id, result: {} });
  session.other.complete(ids);
  await run.completed;
  session.clock.advance(200);
  // Far too late.
  void session.other.say({ id: request.id, result: { acknowledged: true } });
  expect(await settled(session.driver.ended)).toBe(false);
});

test("a driver may refuse an invocation that is being cancelled", async () => {
  const session = await prepared();
  const { run, id } = await invoked(session);
  run.cancel();
  void session.other.say({ id, error: errorOf("driver_internal") });
  expect(await failureOf(run.completed)).toMatchObject({ class: "driver_internal" });
  expect(session.driver.state).toBe("PREPARED");
  await session.other.expect("driver.cancel");
});

describe("leaving the loop", () => {
  test("cancels the run and drops the rest", async () => {
    const session = await prepared();
    const { run, id, ids } = await invoked(session);
    void session.other.say({ id, result: {} });
    session.other.observe(ids, ...range(1, 20));
    for await (const { sequence } of run) if (sequence === 3) break;
    await session.other.expect("driver.cancel");
    session.other.observe(ids, ...range(21, 500));
    session.other.complete(ids, 500, { status: "cancelled" });
    expect(await run.completed).toMatchObject({
      status: "cancelled",
      cancelled: { code: "run_stopped" },
    });
  });

  test("by a throw does the same", async () => {
    const session = await prepared();
    const { run, ids } = await invoked(session);
    session.other.observe(ids, 1);
    const bug = new Error("consumer bug");
    const loop = (async () => {
      for await (const _ of run) throw bug;
    })();
    expect(await failureOf(loop)).toBe(bug);
    await session.other.expect("driver.cancel");
    session.other.complete(ids, 1);
    expect(await run_cause(run)).toBe("run_stopped");
  });

  test("ends the iterator, also when the run had ended before with more in its queue", async () => {
    const session = await prepared();
    const { run, id, ids } = await invoked(session);
    void session.other.say({ id, result: {} });
    session.other.observe(ids, 1, 2, 3);
    session.other.complete(ids, 3);
    const steps = run[Symbol.asyncIterator]();
    await steps.next();
    await run.completed;
    expect(await steps.return!()).toEqual({ done: true, value: undefined });
    expect(await steps.next()).toEqual({ done: true, value: undefined });
    expect(await run.completed).not.toHaveProperty("cancelled");
  });

  test("settles a next() that still waits", async () => {
    const session = await prepared();
    const { run, ids } = await invoked(session);
    const steps = run[Symbol.asyncIterator]();
    const waiting = steps.next();
    await steps.return!();
    expect(await waiting).toEqual({ done: true, value: undefined });
    session.other.complete(ids);
    await run.completed;
  });

  test("of a run that waits for its turn drops it", async () => {
    const session = await prepared();
    const first = await invoked(session);
    const queued = session.driver.invoke("op");
    const steps = queued[Symbol.asyncIterator]();
    await steps.return!();
    expect(await failureOf(queued.completed)).toMatchObject({ code: "run_stopped" });
    expect(await steps.next()).toEqual({ done: true, value: undefined });
    session.other.complete(first.ids);
    await first.run.completed;
  });
});

describe("a driver without the cancellation capability", () => {
  const UNABLE = { cancellation: false };
  const LIMITS = { cancelDeadline: 100, drainTimeout: 500 };

  test("is not asked to cancel; an abort waits the deadline, then ends it", async () => {
    const session = await prepared(LIMITS, UNABLE);
    const { run } = await invoked(session);
    const sent = session.driver.stats.framesOut;
    run.cancel();
    session.clock.advance(99);
    expect(await settled(session.driver.ended)).toBe(false);
    session.clock.advance(1);
    expect(await failureOf(run.completed)).toMatchObject({ class: "cancellation_timeout" });
    expect(session.driver.stats.framesOut).toBe(sent);
  });

  test("that ends by itself before the deadline is fine", async () => {
    const session = await prepared(LIMITS, UNABLE);
    const { run, ids } = await invoked(session, { timeout: 50 });
    session.clock.advance(50);
    session.other.complete(ids);
    expect(await run_cause(run)).toBe("invocation_timeout");
  });

  test("drains after a break, and the next invocation waits for it", async () => {
    const session = await prepared(LIMITS, UNABLE);
    const { run, ids } = await invoked(session);
    session.other.observe(ids, 1);
    for await (const _ of run) break;
    const next = session.driver.invoke("op");
    session.other.observe(ids, ...range(2, 300));
    await settle();
    session.clock.advance(400);
    expect(await settled(next.completed)).toBe(false);
    session.other.complete(ids, 300);
    expect(await run_cause(run)).toBe("run_stopped");
    expect((await heard(session.other)).ids.invocation_id).toBe(next.invocationId);
  });

  test("that does not end within drainTimeout after a break is ended, and the queue with it", async () => {
    const session = await prepared(LIMITS, UNABLE);
    const { run } = await invoked(session);
    const queued = session.driver.invoke("op");
    await run[Symbol.asyncIterator]().return!();
    session.clock.advance(500);
    for (const promise of [run.completed, queued.completed])
      expect(await failureOf(promise)).toMatchObject({ code: "drain_timeout" });
  });

  test("has the deadline from an abort that follows the break", async () => {
    const session = await prepared(LIMITS, UNABLE);
    const { run } = await invoked(session);
    await run[Symbol.asyncIterator]().return!();
    session.clock.advance(50);
    run.cancel();
    session.clock.advance(60);
    run.cancel("again, which moves nothing");
    session.clock.advance(39);
    expect(await settled(session.driver.ended)).toBe(false);
    session.clock.advance(1);
    expect(await failureOf(run.completed)).toMatchObject({
      class: "cancellation_timeout",
      cause: { code: "run_stopped" },
    });
  });
});

test("many runs on one signal leave no listener behind", async () => {
  const session = await prepared();
  const signal = new AbortController().signal;
  let listeners = 0;
  const count = (method: "addEventListener" | "removeEventListener", step: number): void => {
    const own = signal[method].bind(signal) as (...args: unknown[]) => void;
    signal[method] = (...args: unknown[]) => {
      listeners += step;
      own(...args);
    };
  };
  count("addEventListener", 1);
  count("removeEventListener", -1);
  for (const n of range(1, 20)) {
    const { run, id, ids } = await invoked(session, { signal, invocationId: instanceId(n) });
    expect(listeners).toBe(1);
    void session.other.say({ id, result: {} });
    session.other.complete(ids);
    await run.completed;
    expect(listeners).toBe(0);
  }
});
