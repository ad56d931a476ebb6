import { describe, expect, test } from "vitest";
import { DriverExited } from "../../lib/process/driver-exited.ts";
import { kit, prepared, python, start } from "./support/process.ts";
import { failureOf, sequences } from "./support/session.ts";
import { PLAN } from "./support/frames.ts";

const KILLED = { code: "driver_exited", data: { exitCode: null, signal: "SIGKILL" } };

/** What a driver that was killed at a point leaves behind. */
function killed(point: string, inFlight: readonly string[]): object {
  return {
    ...KILLED,
    data: { ...KILLED.data, inFlight, stderr: expect.stringContaining(`dying at ${point}\n`) },
  };
}

describe("a driver that is killed", () => {
  test.each(["start", "hello"])("before it answers the hello: %s", async (point) => {
    const error = await failureOf(start(python("die", point)).starting);
    expect(error).toBeInstanceOf(DriverExited);
    expect(error).toMatchObject(killed(point, ["driver.hello"]));
    expect(error.message).toContain(`dying at ${point}`);
  });

  test("after its hello: the next call rejects", async () => {
    const driver = await start(python("die", "after hello")).starting;
    const error = await failureOf(driver.prepare(PLAN));
    // Whether the call was sent before the end was seen is the system's to say.
    expect(error).toMatchObject({
      ...KILLED,
      data: { ...KILLED.data, stderr: expect.stringContaining("dying at after hello") },
    });
  });

  test("during prepare", async () => {
    const driver = await start(python("die", "prepare")).starting;
    expect(await failureOf(driver.prepare(PLAN))).toMatchObject(
      killed("prepare", ["driver.prepare"]),
    );
  });

  const POINTS: readonly (readonly [string, readonly number[]])[] = [
    ["invoke", []],
    ["accepted", []],
    ["observation 1", [1]],
    ["observation 2", [1, 2]],
    ["mid-frame", [1, 2, 3]],
  ];
  test.each(POINTS)(
    "during an invocation, at %s: what it wrote arrives, then everything rejects",
    async (point, wrote) => {
      const { driver } = await prepared(python("die", point));
      const run = driver.invoke("op");
      const queued = driver.invoke("op");
      const seen: number[] = [];
      const loop = (async () => {
        for await (const { sequence } of run) seen.push(sequence);
      })();
      const wanted = killed(point, ["driver.invoke"]);
      expect(await failureOf(loop)).toMatchObject(wanted);
      expect(seen).toEqual(wrote);
      for (const promise of [run.completed, queued.completed, queued.accepted])
        expect(await failureOf(promise)).toMatchObject(wanted);
      if (point === "invoke") expect(await failureOf(run.accepted)).toMatchObject(wanted);
      else expect(await run.accepted).toEqual({});
      expect(await driver.ended).toMatchObject({
        reason: wanted,
        exit: { code: null, signal: "SIGKILL" },
      });
    },
  );

  test("after its completion: the run is complete, the session ends with nothing in flight", async () => {
    const { driver } = await prepared(python("die", "completed"));
    const run = driver.invoke("op");
    expect(await sequences(run)).toEqual([1, 2, 3]);
    expect(await run.completed).toMatchObject({ status: "completed" });
    expect((await driver.ended).reason).toMatchObject(killed("completed", []));
  });

  test("during reset", async () => {
    const { driver } = await prepared(python("die", "reset"));
    expect(await failureOf(driver.reset())).toMatchObject(killed("reset", ["driver.reset"]));
  });

  test("during shutdown: the close is a close, and its exit tells", async () => {
    const { driver } = await prepared(python("die", "shutdown"));
    expect(await driver.close()).toMatchObject({
      reason: { code: "session_closed" },
      exit: { code: null, signal: "SIGKILL" },
      stderr: expect.stringContaining("dying at shutdown"),
    });
  });

  test("from outside, while nothing is under way", async () => {
    const ends: unknown[] = [];
    const { driver } = await prepared(python("die"), { onEnd: (reason) => ends.push(reason) });
    process.kill(driver.pid!, "SIGKILL");
    const { reason } = await driver.ended;
    expect(reason).toMatchObject({ ...KILLED, data: { ...KILLED.data, inFlight: [] } });
    expect(ends).toEqual([reason]);
    for (const promise of [driver.reset(), driver.invoke("op").completed])
      expect(await failureOf(promise)).toBe(reason);
  });

  test("on the kit, in the middle of an invocation, after a large frame", async () => {
    const { driver } = await prepared(kit());
    const run = driver.invoke("kill");
    const steps = run[Symbol.asyncIterator]();
    const { value } = await steps.next();
    expect(value).toHaveProperty("payload.length", 300_000);
    const error = await failureOf(steps.next());
    expect(error).toMatchObject({
      ...KILLED,
      data: { ...KILLED.data, stderr: expect.stringContaining("last words") },
    });
  });
});

test("a large frame written just before an exit arrives whole, and the exit code after it", async () => {
  const { driver } = await prepared(python("last-words"));
  const run = driver.invoke("op");
  for await (const { payload } of run) expect((payload as string).length).toBe(300_000);
  expect(await run.completed).toMatchObject({ status: "completed", last_sequence: 1 });
  expect(await driver.ended).toMatchObject({
    reason: { code: "driver_exited", data: { exitCode: 7 } },
    exit: { code: 7 },
    stderr: expect.stringContaining("goodbye"),
  });
});
