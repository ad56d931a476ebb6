import { expect, test } from "vitest";
import type { ChildHandle, ExitStatus, KillSignal } from "../../lib/process/child-handle.ts";
import { endChild } from "../../lib/process/ladder.ts";
import type { LadderOptions, Rung } from "../../lib/process/ladder.ts";
import { VirtualClock } from "../../lib/testing/virtual-clock.ts";

/** A child on paper, which ends when a test says so; real ones are in test/adapters. */
function paperChild(endsOn?: KillSignal | "stdin", leavesMembers = false) {
  const exit = Promise.withResolvers<ExitStatus>();
  const log: string[] = [];
  let alive = true;
  const end = (status: ExitStatus): void => {
    alive = false;
    exit.resolve(status);
  };
  const child: ChildHandle = {
    pid: 1,
    readable: new ReadableStream(),
    stderr: new ReadableStream(),
    writable: new WritableStream({
      close() {
        log.push("close");
        if (endsOn === "stdin") end({ code: 0, signal: null });
      },
    }),
    exited: exit.promise,
    kill(signal) {
      log.push(signal);
      if (!alive) return leavesMembers;
      if (signal === endsOn) end({ code: null, signal });
      return true;
    },
    release: () => void log.push("release"),
  };
  return { child, log, end };
}

const limits = { stdinTimeout: 100, terminateTimeout: 200 };
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

const onRung = (): never => {
  throw new Error("rung");
};

async function climb(child: ChildHandle, options: Partial<LadderOptions> = {}) {
  const clock = new VirtualClock();
  const times: [Rung, number][] = [];
  const done = endChild(child, {
    clock,
    limits,
    onRung: (rung) => times.push([rung, clock.now()]),
    ...options,
  });
  for (let step = 0; step < 80; step += 1) {
    await turns();
    clock.advance(10);
  }
  return { result: await done, times, clock };
}

test("endChild() stops at the first rung that works", async () => {
  const { child, log } = paperChild("stdin");
  const { result, clock } = await climb(child);
  expect(result).toEqual({ status: { code: 0, signal: null }, rungs: ["stdin"] });
  expect(log).toEqual(["close", "SIGKILL"]);
  expect(clock.pending).toBe(0);
});

test("endChild() takes the rungs in order, each at its deadline", async () => {
  const { child, log } = paperChild("SIGKILL");
  const { result, times } = await climb(child);
  expect(result).toEqual({
    status: { code: null, signal: "SIGKILL" },
    rungs: ["stdin", "SIGTERM", "SIGKILL"],
  });
  expect(times).toEqual([
    ["stdin", 0],
    ["SIGTERM", 100],
    ["SIGKILL", 300],
  ]);
  expect(log).toEqual(["close", "SIGTERM", "SIGKILL", "SIGKILL"]);
});

test("endChild() releases the pipes of a child that even SIGKILL does not end", async () => {
  const { child, log } = paperChild();
  const { result } = await climb(child);
  expect(result).toEqual({ status: null, rungs: ["stdin", "SIGTERM", "SIGKILL", "release"] });
  expect(log.at(-1)).toBe("release");
});

test("endChild() only sweeps after a child that has ended by itself", async () => {
  const { child, end } = paperChild(undefined, true);
  end({ code: 3, signal: null });
  const { result, times } = await climb(child);
  expect(result).toEqual({ status: { code: 3, signal: null }, rungs: ["sweep"] });
  expect(times).toEqual([["sweep", 0]]);
});

test("endChild() does not wait for a close of stdin that hangs, throws or rejects", async () => {
  const closes = [
    () => new Promise(() => undefined),
    () => Promise.reject(new Error("locked")),
    () => {
      throw new Error("closed");
    },
  ];
  for (const closeStdin of closes) {
    const { result } = await climb(paperChild("SIGTERM").child, { closeStdin });
    expect(result.rungs).toEqual(["stdin", "SIGTERM"]);
  }
});

test("endChild() can start at a later rung", async () => {
  expect((await climb(paperChild("SIGTERM").child, { startAt: "SIGTERM" })).result.rungs).toEqual([
    "SIGTERM",
  ]);
  expect((await climb(paperChild("SIGKILL").child, { startAt: "SIGKILL" })).result.rungs).toEqual([
    "SIGKILL",
  ]);
});

test("endChild() shares one run among calls, and a later call can hurry it", async () => {
  const { child, log } = paperChild("SIGKILL");
  const clock = new VirtualClock();
  const first = endChild(child, { clock, limits });
  const second = endChild(child, { clock, limits });
  expect(second).toBe(first);
  await turns();
  expect(log).toEqual(["close"]);
  const third = endChild(child, { clock, limits, startAt: "SIGKILL" });
  expect(await third).toEqual({
    status: { code: null, signal: "SIGKILL" },
    rungs: ["stdin", "SIGKILL"],
  });
  expect(clock.now()).toBe(0);
  expect(await endChild(child, { clock, limits })).toEqual(await first);
});

test("endChild() survives callbacks and signals that throw", async () => {
  const { child } = paperChild();
  const throwing: ChildHandle = {
    ...child,
    kill() {
      throw new Error("kill");
    },
  };
  expect((await climb(throwing, { onRung })).result.rungs).toEqual([
    "stdin",
    "SIGTERM",
    "SIGKILL",
    "release",
  ]);
});

test("endChild() keeps the process alive with its timers", async () => {
  const clock = new VirtualClock();
  const kept: (boolean | undefined)[] = [];
  const watching = {
    now: () => clock.now(),
    setTimer(callback: () => void, delay: number, options?: { readonly keepAlive?: boolean }) {
      kept.push(options?.keepAlive);
      return clock.setTimer(callback, delay);
    },
  };
  await climb(paperChild("stdin").child, { clock: watching });
  expect(kept).toEqual([true]);
});
