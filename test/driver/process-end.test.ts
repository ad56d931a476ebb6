import { describe, expect, test } from "vitest";
import { nodeClock } from "../../adapters/node/node-clock.ts";
import { spawn } from "../../adapters/node/spawn.ts";
import { hostChild } from "../../lib/driver/mod.ts";
import { waitFor } from "../support/processes.ts";
import { runtime, sameRuntime } from "../support/runtime-name.ts";
import { HOST_SESSION, kit, LADDER, prepared, python, start } from "./support/process.ts";
import { failureOf, sequences } from "./support/session.ts";

describe("a driver that", () => {
  test("never speaks is ended at the start timeout, with its words", async () => {
    const error = await failureOf(start(python("silent"), { startTimeout: 400 }).starting);
    expect(error).toMatchObject({
      code: "start_timeout",
      data: { stderr: expect.stringMatching(/^pid \d+\n$/) },
    });
  });

  test("closes its stdout but lives is ended", async () => {
    const driver = await start(python("close-stdout"), { exitGrace: 100 }).starting;
    expect(await driver.ended).toMatchObject({
      reason: { code: "control_closed", data: { ended: "read" } },
      exit: { signal: "SIGTERM" },
      rungs: ["stdin", "SIGTERM"],
    });
  });

  // Bun reports no error for a write to a pipe that nobody reads; there the call's own timeout acts.
  test.skipIf(runtime === "bun")(
    "closes its stdin but lives is ended, when it is written to at the latest",
    async () => {
      const { starting, stderr } = start(python("close-stdin"), { exitGrace: 100 });
      const driver = await starting;
      expect(await waitFor(() => stderr().includes("closed stdin"))).toBe(true);
      // A runtime that sees it before has ended the session by now.
      expect(await failureOf(driver.refreshCapabilities())).toMatchObject({
        code: "control_closed",
        data: { ended: "write" },
      });
      expect(await driver.ended).toMatchObject({
        exit: { signal: "SIGTERM" },
        rungs: ["stdin", "SIGTERM"],
      });
    },
  );

  test("ignores shutdown's end, stdin and SIGTERM is killed by close()", async () => {
    const { driver } = await prepared(python("stubborn"));
    const before = performance.now();
    expect(await driver.close()).toMatchObject({
      reason: { code: "session_closed" },
      exit: { code: null, signal: "SIGKILL" },
      rungs: ["shutdown", "stdin", "SIGTERM", "SIGKILL"],
    });
    expect(performance.now() - before).toBeGreaterThan(
      LADDER.stdinTimeout + LADDER.terminateTimeout - 50,
    );
  });

  test("writes megabytes to stderr before it says hello does not block (row 6)", async () => {
    const { driver, stderr } = await prepared(python("stderr-flood"));
    expect(stderr().length).toBeGreaterThan(9 * 2 ** 20);
    const { stderr: tail } = await driver.close();
    expect(tail.length).toBeLessThanOrEqual(64 * 1024);
  });

  test("is hosted with a limit out of range is not left behind", async () => {
    const child = await spawn(python("silent"));
    const error = await failureOf(hostChild(child, { inFlight: 0, clock: nodeClock }));
    expect(error).toBeInstanceOf(RangeError);
    expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
    child.release();
  });
});

/** Its input is closed once it has answered the shutdown, unless it was gone by then. */
const SOFT = expect.toSatisfy((rungs: string[]) => /^shutdown(,stdin)?$/.test(rungs.join()));

describe("a driver on the kit", () => {
  test("serves, shuts down and exits with 0 although a timer would keep it alive", async () => {
    const { driver } = await prepared(kit());
    const run = driver.invoke("three");
    expect(await sequences(run)).toEqual([1, 2, 3]);
    expect(await run.completed).toMatchObject({ status: "completed" });
    expect(await driver.close()).toMatchObject({ exit: { code: 0 }, rungs: SOFT });
  });

  test("ends at the end of its input alone, before it was prepared", async () => {
    const driver = await start(kit(), { stdinTimeout: 5_000 }).starting;
    expect(await driver.close()).toMatchObject({
      reason: { code: "session_closed", data: { state: "HELLO" } },
      exit: { code: 0 },
      rungs: ["stdin"],
    });
  });

  test("whose handler heeds nothing ends with its input, after its grace", async () => {
    const { driver } = await prepared(kit(), { cancelDeadline: 100, stdinTimeout: 5_000 });
    const run = driver.invoke("deaf");
    await run.accepted;
    expect(await driver.close()).toMatchObject({ exit: { code: 0 }, rungs: ["stdin"] });
    expect(await failureOf(run.completed)).toMatchObject({ class: "cancellation_timeout" });
  });

  test("that does not end a cancelled invocation is killed", async () => {
    const { driver } = await prepared(kit(), { cancelDeadline: 100 });
    const run = driver.invoke("deaf");
    await run.accepted;
    run.cancel();
    expect(await failureOf(run.completed)).toMatchObject({ class: "cancellation_timeout" });
    expect(await driver.ended).toMatchObject({ exit: { signal: "SIGKILL" }, rungs: ["SIGKILL"] });
  });

  test("may print to stdout while it serves: that goes to stderr", async () => {
    const { driver, stderr } = await prepared(kit());
    expect(await sequences(driver.invoke("noisy"))).toEqual([1]);
    await driver.close();
    expect(stderr()).toContain("plain text\n");
  });

  test("that is cancelled in a flood ends it as cancelled, and serves on", async () => {
    const { driver } = await prepared(kit());
    const run = driver.invoke("flood");
    let count = 0;
    for await (const _ of run) if ((count += 1) === 500) break;
    expect(await run.completed).toMatchObject({
      status: "cancelled",
      cancelled: { code: "run_stopped" },
    });
    expect(await sequences(driver.invoke("three"))).toEqual([1, 2, 3]);
  });
});

/** Runs a host program to its end; tells how long it lived on after its last word. */
async function runHost(
  command: readonly string[],
): Promise<{ output: string; code: number | null; lingered: number }> {
  const host = await spawn(command);
  const decoder = new TextDecoder();
  let output = "";
  let last = performance.now();
  const errors = new Response(host.stderr as BodyInit).text();
  for await (const chunk of host.readable as unknown as AsyncIterable<Uint8Array>) {
    output += decoder.decode(chunk, { stream: true });
    last = performance.now();
  }
  const { code } = await host.exited;
  const lingered = performance.now() - last;
  host.release();
  return { output: output + (await errors), code, lingered };
}

const DONE = /^1,2,3 completed 0 shutdown(,stdin)?\n$/;

test("a host ends by itself once it has closed its driver (row 45)", async () => {
  const { output, code, lingered } = await runHost(sameRuntime(HOST_SESSION, ...kit()));
  expect(output).toMatch(DONE);
  expect(code).toBe(0);
  expect(lingered).toBeLessThan(1_000);
});

test.skipIf(runtime !== "node")(
  "both sides work where code generation from strings is forbidden",
  async () => {
    const strict = (command: readonly string[]): string[] => [
      command[0]!,
      "--disallow-code-generation-from-strings",
      ...command.slice(1),
    ];
    const { output, code } = await runHost(strict(sameRuntime(HOST_SESSION, ...strict(kit()))));
    expect(output).toMatch(DONE);
    expect(code).toBe(0);
  },
);
