import { describe, expect, test } from "vitest";
import { State } from "../../lib/driver/mod.ts";
import { CAPABILITIES, PLAN } from "./support/frames.ts";
import {
  connected,
  failureOf,
  invoked,
  prepared,
  range,
  sequences,
  settle,
  settled,
} from "./support/session.ts";

const LIMITS = { shutdownTimeout: 200, stdinTimeout: 300, cancelDeadline: 100 };

describe("close()", () => {
  test("of a prepared driver: shutdown, then the end of its input", async () => {
    const ends: unknown[] = [];
    const { driver, other, clock } = await prepared({
      ...LIMITS,
      onEnd: (reason) => ends.push(reason),
    });
    const closing = driver.close();
    await other.answer("driver.shutdown", {});
    expect(driver.state).toBe(State.Shutdown);
    expect(await other.hear()).toBeUndefined();
    await other.hangUp();
    const end = await closing;
    expect(end).toMatchObject({
      reason: { code: "session_closed" },
      exit: undefined,
      rungs: ["shutdown"],
    });
    expect(end.reason.data).toEqual({});
    expect(await driver.ended).toBe(end);
    expect(await driver.close()).toBe(end);
    await driver[Symbol.asyncDispose]();
    expect(ends).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("goes on without an answer to shutdown, whatever the driver does", async () => {
    const { driver, other, clock } = await prepared(LIMITS);
    const closing = driver.close();
    await other.expect("driver.shutdown");
    clock.advance(200);
    expect(await other.hear()).toBeUndefined();
    expect(await settled(closing)).toBe(false);
    clock.advance(300);
    expect(await closing).toMatchObject({
      reason: { code: "session_closed" },
      rungs: ["shutdown"],
    });
  });

  test("takes a refused shutdown for an answer", async () => {
    const { driver, other } = await prepared(LIMITS);
    const closing = driver.close();
    const { id } = await other.expect("driver.shutdown");
    void other.say({ id, error: { code: 1, message: "no", data: { class: "driver_internal" } } });
    expect(await other.hear()).toBeUndefined();
    await other.hangUp();
    expect((await closing).reason.code).toBe("session_closed");
  });

  test("before prepare(): the shutdown that the state forbids is skipped and named", async () => {
    const { driver, other } = await connected(LIMITS);
    const closing = driver.close();
    expect(await other.hear()).toBeUndefined();
    await other.hangUp();
    const { reason, rungs } = await closing;
    expect(rungs).toEqual([]);
    expect(reason).toMatchObject({
      code: "session_closed",
      data: { skipped: ["shutdown"], state: "HELLO" },
    });
    expect(reason.message).toContain("HELLO");
  });

  test("during prepare(): the call rejects with session_closed", async () => {
    const { driver, other, clock } = await connected(LIMITS);
    const preparing = driver.prepare(PLAN);
    await other.expect("driver.prepare");
    const closing = driver.close();
    expect(await other.hear()).toBeUndefined();
    clock.advance(300);
    expect(await failureOf(preparing)).toMatchObject({ code: "session_closed" });
    await closing;
  });

  test("refuses new calls and rejects queued ones", async () => {
    const session = await prepared(LIMITS);
    const { driver, other } = session;
    const { run, ids } = await invoked(session);
    const queued = driver.invoke("op");
    const closing = driver.close();
    for (const promise of [
      queued.completed,
      queued.accepted,
      driver.invoke("op").completed,
      driver.reset(),
      driver.refreshCapabilities(),
      driver.prepare(PLAN),
    ])
      expect(await failureOf(promise)).toMatchObject({ code: "session_closed" });
    await other.expect("driver.cancel");
    other.complete(ids, undefined, { status: "cancelled" });
    expect(await run.completed).toMatchObject({ cancelled: { code: "session_closed" } });
    await other.answer("driver.shutdown", {});
    await other.hangUp();
    await closing;
  });

  test("cancels what runs, reads on and discards it, then shuts down", async () => {
    const session = await prepared(LIMITS);
    const { driver, other } = session;
    const { run, ids } = await invoked(session);
    other.observe(ids, ...range(1, 300));
    const loop = failureOf(sequences(run));
    await settle();
    const closing = driver.close();
    expect(await loop).toMatchObject({ code: "session_closed" });
    await other.expect("driver.cancel");
    other.observe(ids, ...range(301, 2000));
    other.complete(ids, 2000, { status: "cancelled" });
    await other.answer("driver.shutdown", {});
    await other.hangUp();
    expect(await closing).toMatchObject({ rungs: ["shutdown"] });
  });

  test("goes on at the cancel deadline, without a shutdown: the run rejects, the reason names what was skipped", async () => {
    const session = await prepared(LIMITS);
    const { driver, other, clock } = session;
    const { run, ids } = await invoked(session);
    const closing = driver.close();
    await other.expect("driver.cancel");
    clock.advance(100);
    expect(await failureOf(run.completed)).toMatchObject({
      class: "cancellation_timeout",
      cause: { code: "session_closed" },
    });
    expect(await other.hear()).toBeUndefined();
    // It is read on to the end, and late frames of the invocation are no fault.
    other.observe(ids, 1);
    other.complete(ids, 1);
    await other.hangUp();
    expect((await closing).reason).toMatchObject({
      code: "session_closed",
      data: { skipped: ["shutdown"], state: "INVOKING" },
    });
  });

  test("gives a driver that cannot cancel the deadline, also after a break", async () => {
    const session = await prepared({ ...LIMITS, drainTimeout: 10_000 }, { cancellation: false });
    const { driver, other, clock } = session;
    const { run } = await invoked(session);
    await run[Symbol.asyncIterator]().return!();
    const closing = driver.close();
    await settle();
    clock.advance(100);
    expect(await failureOf(run.completed)).toMatchObject({ class: "cancellation_timeout" });
    expect(await other.hear()).toBeUndefined();
    await other.hangUp();
    await closing;
  });

  test("within the loop over a run does not hang", async () => {
    const session = await prepared(LIMITS);
    const { driver, other } = session;
    const { run, ids } = await invoked(session);
    other.observe(ids, 1, 2);
    const loop = (async () => {
      for await (const _ of run) await driver.close();
    })();
    await other.expect("driver.cancel");
    other.complete(ids, 2);
    await other.answer("driver.shutdown", {});
    await other.hangUp();
    expect(await failureOf(loop)).toMatchObject({ code: "session_closed" });
  });

  test("while a call waits lets the driver answer it", async () => {
    const { driver, other } = await prepared(LIMITS);
    const refreshing = driver.refreshCapabilities();
    const closing = driver.close();
    await other.answer("driver.capabilities", { capabilities: CAPABILITIES });
    expect(await refreshing).toEqual(CAPABILITIES);
    await other.answer("driver.shutdown", {});
    await other.hangUp();
    await closing;
  });

  test("after the session has ended gives how it ended", async () => {
    const { driver, other } = await prepared(LIMITS);
    await other.hangUp();
    expect((await driver.close()).reason.code).toBe("connection_closed");
  });

  test("while the session ends by a fault gives the fault", async () => {
    const { driver, other } = await prepared(LIMITS);
    void other.raw("{bad\n");
    const closing = driver.close();
    await other.hangUp();
    expect(["protocol_fault", "session_closed"]).toContain((await closing).reason.code);
  });

  test("of a driver that no longer takes input goes on to the end of its output", async () => {
    const { driver, other } = await prepared(LIMITS);
    const closing = driver.close();
    await other.expect("driver.shutdown");
    await other.refuseInput();
    expect(await settled(closing)).toBe(false);
    await other.hangUp();
    expect((await closing).reason.code).toBe("session_closed");
  });

  test("of a completed run that waits for its answer rejects accepted at the end", async () => {
    const session = await prepared(LIMITS);
    const { run, ids } = await invoked(session);
    session.other.complete(ids);
    await run.completed;
    const closing = session.driver.close();
    await session.other.answer("driver.shutdown", {});
    await session.other.hangUp();
    expect((await closing).reason.code).toBe("session_closed");
    expect(await failureOf(run.accepted)).toMatchObject({ code: "session_closed" });
  });
});
