import { describe, expect, test } from "vitest";
import { DriverExited } from "../../lib/process/driver-exited.ts";
import { completed, helloResult, observation } from "./support/frames.ts";
import { host, hosted, paperChild } from "./support/paper-child.ts";
import { failureOf, heard, range, sequences, settle, settled } from "./support/session.ts";

describe("when the process exits, what waits rejects with DriverExited", () => {
  test("with status, methods in flight and last words", async () => {
    const paper = paperChild();
    const driver = await hosted(paper);
    const run = driver.invoke("op");
    await heard(paper.other);
    paper.stderr("warming up\nout of memory\n");
    await paper.exit({ code: 3 });
    const error = await failureOf(run.completed);
    expect(error).toBeInstanceOf(DriverExited);
    expect(error).toMatchObject({
      code: "driver_exited",
      data: {
        exitCode: 3,
        signal: null,
        pid: 4711,
        inFlight: ["driver.invoke"],
        stderr: "warming up\nout of memory\n",
      },
    });
    expect(error.message).toContain("out of memory");
    expect(await driver.ended).toMatchObject({
      reason: error,
      exit: { code: 3, signal: null },
      rungs: [],
      stderr: "warming up\nout of memory\n",
    });
  });

  test("and names an invocation whose answer had come", async () => {
    const paper = paperChild();
    const driver = await hosted(paper);
    const run = driver.invoke("op");
    const { id } = await heard(paper.other);
    void paper.other.say({ id, result: {} });
    await run.accepted;
    await paper.exit({ signal: "SIGSEGV" });
    expect(await failureOf(run.completed)).toMatchObject({
      data: { signal: "SIGSEGV", inFlight: ["driver.invoke"] },
    });
  });

  test("also in the middle of a frame, which is the cause", async () => {
    const paper = paperChild();
    const driver = await hosted(paper);
    const run = driver.invoke("op");
    await heard(paper.other);
    void paper.other.raw('{"jsonrpc":"2.0","method":"driver.obs');
    await paper.exit({ signal: "SIGKILL" });
    expect(await failureOf(run.completed)).toMatchObject({
      code: "driver_exited",
      cause: { code: "connection_closed", cause: { code: "cut_control_frame" } },
    });
  });

  test("after its last frames have arrived", async () => {
    const paper = paperChild();
    const driver = await hosted(paper);
    const run = driver.invoke("op");
    const { ids } = await heard(paper.other);
    void paper.other.say(observation(ids, 1, { payload: "x".repeat(300_000) }), completed(ids, 1));
    await paper.exit({ code: 0 });
    expect(await sequences(run)).toEqual([1]);
    expect(await run.completed).toMatchObject({ status: "completed" });
    expect(await failureOf(run.accepted)).toMatchObject({ code: "driver_exited" });
  });

  test("during its hello", async () => {
    const paper = paperChild();
    const starting = host(paper);
    await paper.other.expect("driver.hello");
    paper.stderr("no such module\n");
    await paper.exit({ code: 1 });
    const error = await failureOf(starting);
    expect(error).toMatchObject({
      code: "driver_exited",
      data: { exitCode: 1, inFlight: ["driver.hello"] },
    });
    expect(error.message).toContain("no such module");
  });

  test("when a write fails first", async () => {
    const paper = paperChild();
    const driver = await hosted(paper);
    await paper.other.refuseInput();
    const resetting = driver.reset();
    await settle();
    await paper.exit({ signal: "SIGKILL" });
    expect(await failureOf(resetting)).toMatchObject({
      code: "driver_exited",
      data: { signal: "SIGKILL" },
    });
    expect((await driver.ended).reason).toMatchObject({ code: "driver_exited" });
  });

  test("although reading had paused: the rest is read, then the run rejects", async () => {
    const paper = paperChild();
    const driver = await hosted(paper, { runQueueCount: 4, aheadCount: 8 });
    const run = driver.invoke("op");
    const { ids } = await heard(paper.other);
    const steps = run[Symbol.asyncIterator]();
    for (const sequence of range(1, 40)) paper.other.observe(ids, sequence);
    await settle();
    const before = driver.stats.framesIn;
    await paper.exit({ code: 9 });
    expect(await failureOf(run.completed)).toMatchObject({ code: "driver_exited" });
    expect(driver.stats.framesIn).toBeGreaterThan(before);
    for (const sequence of range(1, 40))
      expect(await steps.next()).toMatchObject({ value: { sequence } });
    expect(await failureOf(steps.next())).toMatchObject({ code: "driver_exited" });
  });

  test("although somebody waits and more is in its pipe than is read ahead", async () => {
    const paper = paperChild();
    const driver = await hosted(paper, { runQueueCount: 4, aheadCount: 8 });
    const run = driver.invoke("op");
    const { ids } = await heard(paper.other);
    const steps = run[Symbol.asyncIterator]();
    void run.accepted;
    for (const sequence of range(1, 8)) paper.other.observe(ids, sequence);
    await settle();
    await paper.exit({ code: 0 }, true);
    for (const sequence of range(9, 40)) paper.other.observe(ids, sequence);
    await paper.other.hangUp();
    expect(await failureOf(run.completed)).toMatchObject({ code: "driver_exited" });
    for (const sequence of range(1, 40))
      expect(await steps.next()).toMatchObject({ value: { sequence } });
  });

  test("although somebody else holds its stdout: silence is cut after exitGrace", async () => {
    const paper = paperChild();
    const driver = await hosted(paper, { exitGrace: 50 });
    const run = driver.invoke("op");
    await heard(paper.other);
    await paper.exit({ code: 0 }, true);
    await settle();
    paper.clock.advance(49);
    expect(await settled(run.completed)).toBe(false);
    paper.clock.advance(1);
    await settle();
    expect(await failureOf(run.completed)).toMatchObject({ code: "driver_exited" });
  });
});

describe("a driver that lives on is ended by the ladder when it", () => {
  test("closes its stdout", async () => {
    const paper = paperChild(["SIGTERM"]);
    const driver = await hosted(paper, { exitGrace: 50, stdinTimeout: 100, terminateTimeout: 100 });
    const resetting = driver.reset();
    await paper.other.hangUp();
    await settle();
    paper.clock.advance(50);
    expect(await failureOf(resetting)).toMatchObject({
      code: "control_closed",
      data: { ended: "read" },
    });
    await settle();
    paper.clock.advance(100);
    expect(await driver.ended).toMatchObject({
      reason: { code: "control_closed" },
      exit: { signal: "SIGTERM" },
      rungs: ["stdin", "SIGTERM"],
    });
  });

  test("closes its stdin", async () => {
    const paper = paperChild(["SIGTERM"]);
    const driver = await hosted(paper, { exitGrace: 50, stdinTimeout: 100 });
    await paper.other.refuseInput();
    await settle();
    paper.clock.advance(50);
    await settle();
    paper.clock.advance(100);
    const { reason } = await driver.ended;
    expect(reason).toMatchObject({ code: "control_closed", data: { ended: "write" } });
    expect(reason.message).toContain("stdin");
  });

  test("does not say hello", async () => {
    const paper = paperChild(["SIGKILL"]);
    const starting = host(paper, { startTimeout: 500, stdinTimeout: 10, terminateTimeout: 10 });
    paper.stderr("still compiling\n");
    await paper.other.expect("driver.hello");
    await settle();
    paper.clock.advance(500);
    await settle();
    paper.clock.advance(10);
    await settle();
    paper.clock.advance(10);
    const error = await failureOf(starting);
    expect(error).toMatchObject({ code: "start_timeout" });
    expect(error.message).toContain("still compiling");
    expect(paper.signals).toEqual(["SIGTERM", "SIGKILL"]);
  });

  test("breaks the protocol", async () => {
    const paper = paperChild(["SIGTERM"]);
    const driver = await hosted(paper, { stdinTimeout: 100 });
    void paper.other.raw("{\n");
    await settle();
    paper.clock.advance(100);
    expect(await driver.ended).toMatchObject({
      reason: { code: "protocol_fault" },
      rungs: ["stdin", "SIGTERM"],
    });
  });

  test("does not heed a cancel: SIGKILL at once", async () => {
    const paper = paperChild();
    const driver = await hosted(paper, { cancelDeadline: 100 });
    const run = driver.invoke("op");
    await heard(paper.other);
    run.cancel();
    paper.clock.advance(100);
    expect(await driver.ended).toMatchObject({
      reason: { class: "cancellation_timeout" },
      exit: { signal: "SIGKILL" },
      rungs: ["SIGKILL"],
    });
  });
});

describe("close() of a process", () => {
  const LIMITS = {
    shutdownTimeout: 10,
    stdinTimeout: 100,
    terminateTimeout: 100,
    cancelDeadline: 50,
  };

  test("that heeds shutdown takes no rung of the ladder", async () => {
    const paper = paperChild();
    const driver = await hosted(paper, LIMITS);
    const closing = driver.close();
    await paper.other.answer("driver.shutdown", {});
    await paper.exit({ code: 0 });
    expect(await closing).toMatchObject({
      reason: { code: "session_closed" },
      exit: { code: 0 },
      rungs: ["shutdown"],
    });
  });

  test("that answers and stays: stdin, SIGTERM, SIGKILL", async () => {
    const paper = paperChild();
    const driver = await hosted(paper, LIMITS);
    const closing = driver.close();
    await paper.other.answer("driver.shutdown", {});
    expect(await paper.other.hear()).toBeUndefined();
    for (const _ of range(1, 3)) {
      await settle();
      paper.clock.advance(100);
    }
    expect(await closing).toMatchObject({
      exit: { signal: "SIGKILL" },
      rungs: ["shutdown", "stdin", "SIGTERM", "SIGKILL"],
    });
  });

  test("that closes its stdout long before it exits is still a close", async () => {
    const paper = paperChild();
    const driver = await hosted(paper, { ...LIMITS, exitGrace: 20 });
    const closing = driver.close();
    await paper.other.answer("driver.shutdown", {});
    await paper.other.hangUp();
    await settle();
    paper.clock.advance(50);
    await settle();
    await paper.exit({ code: 0 });
    expect(await closing).toMatchObject({ reason: { code: "session_closed" }, exit: { code: 0 } });
  });

  test("with an invocation that does not end: the ladder from stdin on, read to the end", async () => {
    const paper = paperChild(["SIGTERM"]);
    const driver = await hosted(paper, LIMITS);
    const run = driver.invoke("op");
    const { ids } = await heard(paper.other);
    const closing = driver.close();
    await paper.other.expect("driver.cancel");
    paper.clock.advance(50);
    expect(await failureOf(run.completed)).toMatchObject({ class: "cancellation_timeout" });
    const before = driver.stats.framesIn;
    paper.other.observe(ids, 1);
    await settle();
    expect(driver.stats.framesIn).toBe(before + 1);
    paper.clock.advance(100);
    expect(await closing).toMatchObject({
      reason: { code: "session_closed", data: { state: "INVOKING" } },
      rungs: ["stdin", "SIGTERM"],
    });
  });

  test("while its start fails is the same end", async () => {
    const paper = paperChild();
    const starting = host(paper, { expectIdentity: { name: "other" }, ...LIMITS });
    await paper.other.answer("driver.hello", helloResult());
    expect(await settled(starting)).toBe(false);
    await paper.exit({ code: 0 });
    expect(await failureOf(starting)).toMatchObject({ class: "artifact_mismatch" });
  });
});

test("noise with policy stderr is kept with the tail of standard error", async () => {
  const paper = paperChild();
  const driver = await hosted(paper, { noise: "stderr" });
  paper.stderr("one\n");
  await settle();
  void paper.other.raw("two\n");
  await settle();
  paper.stderr("three\n");
  await paper.exit({ code: 1 });
  const { stderr, reason } = await driver.ended;
  expect(stderr).toBe("one\ntwo\nthree\n");
  expect(reason.message).toContain("one | two | three");
});

test("hostChild() told a limit out of range ends the child before it rejects", async () => {
  const paper = paperChild();
  const error = await failureOf(host(paper, { usedIds: 0.5 }));
  expect(error).toBeInstanceOf(RangeError);
  expect(paper.signals).toEqual(["SIGKILL"]);
});

test("onStderr gets every chunk, and what it throws does not stop the tail", async () => {
  const paper = paperChild();
  const chunks: string[] = [];
  const driver = await hosted(paper, {
    onStderr: (chunk) => {
      chunks.push(new TextDecoder().decode(chunk));
      throw new Error("tee bug");
    },
  });
  paper.stderr("a");
  await settle();
  paper.stderr("b");
  await paper.exit({ code: 0 });
  expect((await driver.ended).stderr).toBe("ab");
  expect(chunks).toEqual(["a"]);
});
