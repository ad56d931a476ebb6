import { describe, expect, test } from "vitest";
import { completed, errorOf, type Ids, instanceId, observation } from "./support/frames.ts";
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

const concurrent = (max_concurrency: number): object => ({ concurrency: true, max_concurrency });

describe("a driver with concurrency", () => {
  test("gets as many invocations as it takes, the rest in order as places become free", async () => {
    const session = await prepared({}, concurrent(2));
    const { driver, other } = session;
    const runs = range(1, 5).map((n) => driver.invoke(`op ${n}`));
    const first = await heard(other);
    const second = await heard(other);
    const next = heard(other);
    expect(await settled(next)).toBe(false);
    other.complete(second.ids);
    expect((await next).ids.invocation_id).toBe(runs[2]!.invocationId);
    expect(await runs[1]!.completed).toMatchObject({ status: "completed" });
    const fourth = heard(other);
    expect(await settled(fourth)).toBe(false);
    other.complete(first.ids);
    expect((await fourth).ids.invocation_id).toBe(runs[3]!.invocationId);
    for (const { ids } of [await next, await fourth]) other.complete(ids);
    other.complete((await heard(other)).ids);
    for (const run of runs) expect(await run.completed).toMatchObject({ status: "completed" });
    expect(driver.state).toBe("PREPARED");
  });

  test("hands each run its own observations, however they are mixed", async () => {
    const session = await prepared({}, concurrent(2));
    const { other } = session;
    const one = await invoked(session);
    const two = await invoked(session);
    void other.say(
      observation(one.ids, 1),
      observation(two.ids, 5),
      observation(two.ids, 6),
      observation(one.ids, 2),
      completed(two.ids, 6),
      completed(one.ids, 2),
    );
    expect(await Promise.all([sequences(one.run), sequences(two.run)])).toEqual([
      [1, 2],
      [5, 6],
    ]);
  });

  test("never has more than max_concurrency under way, whatever order they end in", async () => {
    const session = await prepared({}, concurrent(3));
    const { driver, other } = session;
    const before = driver.stats.framesOut;
    const runs = range(1, 12).map(() => driver.invoke("op"));
    const underway: Ids[] = [];
    for (let ended = 0; ended < 12; ended += 1) {
      await settle();
      const sent = driver.stats.framesOut - before;
      expect(sent).toBe(Math.min(12, ended + 3));
      while (underway.length + ended < sent) underway.push((await heard(other)).ids);
      other.complete(underway.splice((ended * 7) % underway.length, 1)[0]!);
    }
    await Promise.all(runs.map(async (run) => await run.completed));
  });

  test("without `concurrency: true` is served one at a time, whatever max_concurrency says", async () => {
    for (const capabilities of [
      { concurrency: false, max_concurrency: 8 },
      { concurrency: true, max_concurrency: 1 },
      { concurrency: true, max_concurrency: 0 },
    ]) {
      const session = await prepared({}, capabilities);
      const { driver, other } = session;
      const runs = [driver.invoke("op"), driver.invoke("op")];
      const before = driver.stats.framesOut;
      const first = await heard(other);
      await settle();
      expect(driver.stats.framesOut).toBe(before);
      other.complete(first.ids);
      other.complete((await heard(other)).ids);
      await Promise.all(runs.map(async (run) => await run.completed));
    }
  });

  test("over the queue refuses with invoke_queue_full, and sends nothing", async () => {
    const session = await prepared({ invokeQueue: 2 }, concurrent(2));
    const { driver, other } = session;
    const runs = range(1, 5).map(() => driver.invoke("op"));
    expect(await failureOf(runs[4]!.completed)).toMatchObject({ code: "invoke_queue_full" });
    for (let n = 0; n < 4; n += 1) other.complete((await heard(other)).ids);
    for (const run of runs.slice(0, 4)) await run.completed;
  });

  test("refuses an invocation id that is under way, and the session's last id while it is", async () => {
    const session = await prepared({ usedIds: 2 }, concurrent(8));
    const { driver, other } = session;
    const one = await invoked(session, { invocationId: instanceId(1) });
    const twin = driver.invoke("op", { invocationId: instanceId(1) });
    expect(await failureOf(twin.completed)).toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("under way"),
    });
    const two = await invoked(session);
    const third = driver.invoke("op");
    expect(await failureOf(third.completed)).toMatchObject({ code: "session_exhausted" });
    other.complete(one.ids);
    other.complete(two.ids);
    await Promise.all([one.run.completed, two.run.completed]);
    const fourth = driver.invoke("op");
    expect(await failureOf(fourth.completed)).toMatchObject({ code: "session_exhausted" });
  });

  test("that refuses one goes on with the others, and the place is free", async () => {
    const session = await prepared({}, concurrent(2));
    const { other, driver } = session;
    const one = await invoked(session);
    const two = await invoked(session);
    const three = driver.invoke("op");
    void other.say({ id: one.id, error: errorOf("budget_exceeded") });
    expect(await failureOf(one.run.completed)).toMatchObject({ code: "budget_exceeded" });
    const { ids } = await heard(other);
    other.complete(ids);
    other.complete(two.ids);
    await Promise.all([two.run.completed, three.completed]);
  });

  test("is not asked to reset, shut down or list capabilities while any is under way", async () => {
    const session = await prepared({}, concurrent(2));
    const { other, driver } = session;
    const one = await invoked(session);
    const two = await invoked(session);
    other.complete(one.ids);
    await one.run.completed;
    for (const call of [driver.reset(), driver.refreshCapabilities()])
      expect(await failureOf(call)).toMatchObject({ code: "invalid_state" });
    other.complete(two.ids);
    await two.run.completed;
    const resetting = driver.reset();
    await other.answer("driver.reset", {});
    await resetting;
  });
});

describe('onCancelTimeout: "keep"', () => {
  const OPTIONS = { onCancelTimeout: "keep", cancelDeadline: 1000 } as const;

  test("fails the run alone; its place stays taken until the driver ends it", async () => {
    const session = await prepared(OPTIONS, concurrent(2));
    const { other, driver, clock } = session;
    const one = await invoked(session);
    const two = await invoked(session);
    const three = driver.invoke("op");
    one.run.cancel();
    await other.expect("driver.cancel");
    clock.advance(1000);
    expect(await failureOf(one.run.completed)).toMatchObject({ code: "cancellation_timeout" });
    const next = heard(other);
    expect(await settled(next)).toBe(false);
    // What it still says is dropped.
    void other.say(observation(one.ids, 1));
    await settle();
    other.complete(one.ids, 1);
    other.complete((await next).ids);
    other.complete(two.ids);
    await Promise.all([two.run.completed, three.completed]);
  });

  test("gives the place back when the driver refuses that invocation after all", async () => {
    const session = await prepared(OPTIONS, concurrent(2));
    const { other, driver, clock } = session;
    const one = await invoked(session);
    const two = await invoked(session);
    const three = driver.invoke("op");
    one.run.cancel();
    await other.expect("driver.cancel");
    clock.advance(1000);
    await failureOf(one.run.completed);
    void other.say({ id: one.id, error: errorOf("driver_internal") });
    other.complete((await heard(other)).ids);
    other.complete(two.ids);
    await Promise.all([two.run.completed, three.completed]);
    expect(driver.state).toBe("PREPARED");
  });

  test("is no help to a driver that runs one at a time: it is ended", async () => {
    const session = await prepared(OPTIONS);
    const one = await invoked(session);
    one.run.cancel();
    await session.other.expect("driver.cancel");
    session.clock.advance(1000);
    expect(await failureOf(one.run.completed)).toMatchObject({ code: "cancellation_timeout" });
    expect((await session.driver.ended).reason).toMatchObject({ code: "cancellation_timeout" });
  });

  test("does not hold up close(), which skips the shutdown and says so", async () => {
    const session = await prepared(OPTIONS, concurrent(2));
    const { other, driver, clock } = session;
    const one = await invoked(session);
    one.run.cancel();
    await other.expect("driver.cancel");
    clock.advance(1000);
    await failureOf(one.run.completed);
    const closing = driver.close();
    await settle();
    await other.hangUp();
    expect((await closing).reason).toMatchObject({
      code: "session_closed",
      data: { skipped: ["shutdown"] },
    });
  });
});
