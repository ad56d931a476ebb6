import { expect, test } from "vitest";
import { StderrTail } from "../../../lib/process/stderr-tail.ts";
import { isAlive, waitGone } from "../../support/processes.ts";
import { end, firstLine, linuxOnly, start } from "./start.ts";

linuxOnly();

test("endChild() ends a child that heeds the end of stdin at the first rung (row 1)", async () => {
  const child = await start(["cat"]);
  expect(await end(child)).toEqual({ status: { code: 0, signal: null }, rungs: ["stdin"] });
});

test("endChild() ends a child that ignores stdin with SIGTERM", async () => {
  const child = await start(["sleep", "30"]);
  expect(await end(child)).toEqual({
    status: { code: null, signal: "SIGTERM" },
    rungs: ["stdin", "SIGTERM"],
  });
});

test("endChild() kills a child that ignores SIGTERM", async () => {
  const child = await start(["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"]);
  expect(await firstLine(child.readable)).toBe("ready");
  expect(await end(child)).toEqual({
    status: { code: null, signal: "SIGKILL" },
    rungs: ["stdin", "SIGTERM", "SIGKILL"],
  });
  expect(isAlive(child.pid)).toBe(false);
});

test("endChild() ends the grandchildren behind a wrapper (row 2)", async () => {
  const child = await start(["sh", "-c", "sleep 30 & echo $!; wait"]);
  const grandchild = Number(await firstLine(child.readable));
  expect(isAlive(grandchild)).toBe(true);
  await end(child);
  expect(await waitGone(grandchild)).toBe(true);
  expect(isAlive(child.pid)).toBe(false);
});

test("endChild() sweeps a grandchild that ignores SIGTERM and outlives its parent", async () => {
  const child = await start(["sh", "-c", "(trap '' TERM; exec sleep 30) & echo $!; cat"]);
  const grandchild = Number(await firstLine(child.readable));
  expect(await end(child)).toEqual({
    status: { code: 0, signal: null },
    rungs: ["stdin", "sweep"],
  });
  expect(await waitGone(grandchild)).toBe(true);
  expect(child.kill("SIGKILL")).toBe(false);
});

test("endChild() is not held up by a write that the child does not read", async () => {
  const child = await start(["sleep", "30"]);
  const writer = child.writable.getWriter();
  const write = writer.write(new Uint8Array(8 * 1024 * 1024)).catch((error: unknown) => error);
  const { rungs } = await end(child, { closeStdin: () => writer.close() });
  expect(rungs).toEqual(["stdin", "SIGTERM"]);
  expect(await write).toMatchObject({ code: "broken_pipe" });
});

test("endChild() leaves the last words of a killed child readable", async () => {
  const child = await start(["sh", "-c", "echo words >&2; echo ready; exec sleep 30"]);
  const tail = new StderrTail(child.stderr);
  await firstLine(child.readable);
  await end(child, { startAt: "SIGTERM" });
  await tail.done;
  expect(tail.text()).toBe("words\n");
});
