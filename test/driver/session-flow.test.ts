import { describe, expect, test } from "vitest";
import type { Run } from "../../lib/driver/mod.ts";
import {
  CAPABILITIES,
  completed as ended,
  helloResult,
  observation,
  PLAN,
} from "./support/frames.ts";
import type { Ids } from "./support/frames.ts";
import {
  failureOf,
  invoked,
  open,
  prepared,
  range,
  sequences,
  settle,
  settled,
  type Session,
} from "./support/session.ts";

/** Small bounds, so that few frames show what many would. */
const BOUNDS = { runQueueCount: 4, aheadCount: 8 };

/** Sends observations one a chunk, so that each can be the last one read. */
function flood({ other }: Session, ids: Ids, from: number, to: number): void {
  for (const sequence of range(from, to)) other.observe(ids, sequence);
}

/** How many frames the host has read. */
async function framesRead({ driver }: Session): Promise<number> {
  await settle();
  return driver.stats.framesIn;
}

/** Takes `count` observations. */
async function take(steps: AsyncIterator<{ sequence: number }>, count: number): Promise<number[]> {
  const seen: number[] = [];
  for (let k = 0; k < count; k += 1) {
    const { done, value } = await steps.next();
    if (done === true) break;
    seen.push(value.sequence);
  }
  return seen;
}

describe("reading stops at a full queue while nobody waits, and", () => {
  test("goes on as the consumer takes", async () => {
    const session = await prepared(BOUNDS);
    const { run, ids } = await invoked(session);
    const before = session.driver.stats.framesIn;
    flood(session, ids, 1, 20);
    expect((await framesRead(session)) - before).toBe(4);
    const steps = run[Symbol.asyncIterator]();
    expect(await take(steps, 2)).toEqual([1, 2]);
    expect((await framesRead(session)) - before).toBe(6);
    session.other.complete(ids, 20);
    expect(await take(steps, 99)).toEqual(range(3, 20));
  });

  test("counts bytes too", async () => {
    const session = await prepared({ runQueueBytes: 1000 });
    const { run, ids } = await invoked(session);
    const before = session.driver.stats.framesIn;
    for (const sequence of range(1, 9))
      void session.other.say(observation(ids, sequence, { payload: "x".repeat(400) }));
    // Two frames of about 650 characters are more than 1000.
    expect((await framesRead(session)) - before).toBe(2);
    session.other.complete(ids, 9);
    expect(await sequences(run)).toEqual(range(1, 9));
  });

  test("the driver blocks: a run that nobody reads costs bounded memory", async () => {
    const { starting, other, clock } = open({}, { highWaterMark: 1024 });
    await other.answer("driver.hello", helloResult());
    const driver = await starting;
    const preparing = driver.prepare(PLAN);
    await other.answer("driver.prepare", { accepted_permissions: [] });
    await preparing;
    const session = { driver, other, clock };
    const { run, ids } = await invoked(session);
    const before = driver.stats.framesIn;
    // 5000 frames are about 1.5 MB; the queue of the pipe is 1 KiB.
    const writing = other.flood(range(1, 5000).map((sequence) => observation(ids, sequence)));
    await settle();
    expect(driver.stats.framesIn - before).toBe(64);
    expect(await settled(writing.done)).toBe(false);
    expect(writing.written()).toBeLessThan(80);
    // What acts all the same: close().
    const closing = driver.close();
    await other.expect("driver.cancel");
    await writing.done;
    other.complete(ids, 5000, { status: "cancelled" });
    await other.answer("driver.shutdown", {});
    await other.hangUp();
    expect((await closing).reason.code).toBe("session_closed");
    expect(await run.completed).toMatchObject({ status: "cancelled" });
  });

  test("a total timeout acts all the same", async () => {
    const session = await prepared(BOUNDS);
    const { run, ids } = await invoked(session, { timeout: 1000 });
    flood(session, ids, 1, 20);
    await settle();
    session.clock.advance(1000);
    await session.other.expect("driver.cancel");
    session.other.complete(ids, 20, { status: "cancelled" });
    expect(await run.completed).toMatchObject({ cancelled: { code: "invocation_timeout" } });
  });

  test("the idle timeout does not: only time in which the host reads counts", async () => {
    const session = await prepared(BOUNDS);
    const { run, ids } = await invoked(session, { idleTimeout: 1000 });
    const steps = run[Symbol.asyncIterator]();
    flood(session, ids, 1, 4);
    await settle();
    session.clock.advance(60_000);
    expect(await take(steps, 4)).toEqual([1, 2, 3, 4]);
    await settle();
    session.clock.advance(999);
    session.other.observe(ids, 5);
    expect(await take(steps, 1)).toEqual([5]);
    session.clock.advance(999);
    const waiting = failureOf(steps.next());
    await settle();
    session.clock.advance(1);
    expect(await waiting).toMatchObject({ code: "idle_timeout" });
    await session.other.expect("driver.cancel");
    session.other.complete(ids, 5);
    expect(await run.completed).toMatchObject({ cancelled: { code: "idle_timeout" } });
  });

  test("a chunk is taken whole: what it holds beyond the bounds is no fault while nobody waits", async () => {
    const session = await prepared(BOUNDS);
    const { run, ids } = await invoked(session);
    const loop = sequences(run);
    await settle();
    session.other.observe(ids, ...range(1, 30));
    session.other.complete(ids, 30);
    expect(await loop).toEqual(range(1, 30));
  });

  test("a chunk far over the bounds reaches a consumer that has paused", async () => {
    const session = await prepared(BOUNDS);
    const { run, ids } = await invoked(session);
    const steps = run[Symbol.asyncIterator]();
    session.other.observe(ids, ...range(1, 30));
    session.other.complete(ids, 30);
    await settle();
    expect(await take(steps, 99)).toEqual(range(1, 30));
    expect(await run.completed).not.toHaveProperty("cancelled");
  });
});

describe("while somebody waits reading goes on past a full queue:", () => {
  const WAITS: readonly (readonly [string, (session: Session, run: Run) => void, string])[] = [
    ["run.accepted", (_, run) => void run.accepted, "run.accepted"],
    ["a queued invocation", ({ driver }) => void driver.invoke("op"), "a queued invocation"],
  ];

  test.each(WAITS)(
    "%s, up to `ahead`, over which the run fails and says why",
    async (_, wait, what) => {
      const session = await prepared(BOUNDS);
      const { run, ids } = await invoked(session);
      const steps = run[Symbol.asyncIterator]();
      wait(session, run);
      const before = session.driver.stats.framesIn;
      flood(session, ids, 1, 8);
      expect((await framesRead(session)) - before).toBe(8);
      expect(await take(steps, 1)).toEqual([1]);
      flood(session, ids, 9, 10);
      await settle();
      const error = await failureOf(steps.next());
      expect(error).toMatchObject({ code: "budget_exceeded", data: { held: 9 } });
      expect(error.message).toContain(what);
      await session.other.expect("driver.cancel");
      session.other.complete(ids, 10, { status: "cancelled" });
      expect(await run.completed).toMatchObject({ cancelled: error });
    },
  );

  test("a call made before the invocation, named by its method", async () => {
    const session = await prepared(BOUNDS);
    const refreshing = session.driver.refreshCapabilities();
    const request = await session.other.expect("driver.capabilities");
    const { run, ids } = await invoked(session);
    const steps = run[Symbol.asyncIterator]();
    flood(session, ids, 1, 10);
    expect(await take(steps, 1)).toEqual([1]);
    await settle();
    const error = await failureOf(steps.next());
    expect(error).toMatchObject({ code: "budget_exceeded" });
    expect(error.message).toContain("the answer to driver.capabilities");
    void session.other.say({ id: request.id, result: { capabilities: CAPABILITIES } });
    await refreshing;
    session.other.complete(ids, 10);
    await run.completed;
  });

  test("once nobody waits any more, the pause comes", async () => {
    const session = await prepared(BOUNDS);
    const { run, ids, id } = await invoked(session);
    void run.accepted;
    const before = session.driver.stats.framesIn;
    flood(session, ids, 1, 6);
    void session.other.say({ id, result: {} });
    await settle();
    flood(session, ids, 7, 20);
    expect((await framesRead(session)) - before).toBe(7);
    session.other.complete(ids, 20);
    expect(await sequences(run)).toEqual(range(1, 20));
  });

  test("a run whose iterator was never taken goes into discard mode instead", async () => {
    const session = await prepared(BOUNDS);
    const { run, ids } = await invoked(session);
    void run.accepted;
    flood(session, ids, 1, 20);
    session.other.complete(ids, 20);
    await settle();
    expect(session.driver.state).toBe("PREPARED");
    expect(await failureOf(sequences(run))).toMatchObject({
      code: "observations_discarded",
      data: { discarded: 20 },
    });
  });
});

describe("when only run.completed is read", () => {
  test("a full queue is discarded, and the run completes", async () => {
    const session = await prepared(BOUNDS);
    const { run, ids } = await invoked(session);
    const { completed } = run;
    flood(session, ids, 1, 50);
    session.other.complete(ids, 50);
    expect(await completed).toMatchObject({ status: "completed", last_sequence: 50 });
    expect(await failureOf(sequences(run))).toMatchObject({
      code: "observations_discarded",
      data: { discarded: 50 },
    });
  });

  test("also when it is read only once the queue is full", async () => {
    const session = await prepared(BOUNDS);
    const { run, ids } = await invoked(session);
    flood(session, ids, 1, 50);
    session.other.complete(ids, 50);
    await settle();
    expect(await run.completed).toMatchObject({ last_sequence: 50 });
  });

  test("what fits stays readable", async () => {
    const session = await prepared(BOUNDS);
    const { run, ids } = await invoked(session);
    flood(session, ids, 1, 3);
    session.other.complete(ids, 3);
    await run.completed;
    expect(await sequences(run)).toEqual([1, 2, 3]);
  });

  test("nothing is discarded once the run has ended, however much it holds", async () => {
    const session = await prepared(BOUNDS);
    const { run, ids } = await invoked(session);
    const frames = range(1, 20).map((sequence) => observation(ids, sequence));
    void session.other.say(...frames, ended(ids, 20));
    await settle();
    await run.completed;
    await settle();
    expect(await sequences(run)).toEqual(range(1, 20));
  });

  test("a loop that begins beside it loses nothing", async () => {
    const session = await prepared(BOUNDS);
    const { run, ids } = await invoked(session);
    flood(session, ids, 1, 20);
    session.other.complete(ids, 20);
    const [completion, seen] = await Promise.all([run.completed, sequences(run)]);
    expect(seen).toEqual(range(1, 20));
    expect(completion).toMatchObject({ last_sequence: 20 });
  });

  test("a loop that begins beside it loses nothing although the queue was full before", async () => {
    const session = await prepared(BOUNDS);
    const { run, ids } = await invoked(session);
    flood(session, ids, 1, 20);
    session.other.complete(ids, 20);
    await settle();
    const { completed } = run;
    const loop = (async () => {
      await Promise.resolve();
      return await sequences(run);
    })();
    expect(await loop).toEqual(range(1, 20));
    await completed;
  });
});

test("a run is iterated once: a second iterator is already_iterating", async () => {
  const session = await prepared();
  const { run, ids } = await invoked(session);
  const steps = run[Symbol.asyncIterator]();
  expect(() => run[Symbol.asyncIterator]()).toThrow(
    expect.objectContaining({ code: "already_iterating" }),
  );
  session.other.observe(ids, 1);
  expect(await take(steps, 1)).toEqual([1]);
});

test("next() may be called ahead: the calls are answered in order", async () => {
  const session = await prepared();
  const { run, ids } = await invoked(session);
  const steps = run[Symbol.asyncIterator]();
  const calls = [steps.next(), steps.next(), steps.next()];
  session.other.observe(ids, 5, 6);
  session.other.complete(ids, 6);
  expect(await Promise.all(calls)).toMatchObject([
    { value: { sequence: 5 } },
    { value: { sequence: 6 } },
    { done: true },
  ]);
});
