import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { onProcessExit } from "../../../adapters/node/exit-hook.ts";
import { reap, waitGone } from "../../support/processes.ts";
import { runtime, sameRuntime } from "../../support/runtime-name.ts";
import { linuxOnly, start, text } from "./start.ts";

linuxOnly();

const program = fileURLToPath(new URL("programs/host-spawns.ts", import.meta.url));

async function run(how: string) {
  const host = await start(sameRuntime(program, how));
  const output = await text(host.readable);
  const [pids = "", ...rest] = output.trim().split("\n");
  const [driver = 0, grandchild = 0] = pids.split(" ").map(Number);
  expect(driver).toBeGreaterThan(0);
  expect(grandchild).toBeGreaterThan(0);
  const gone = [await waitGone(driver), await waitGone(grandchild)];
  for (const pid of [driver, grandchild]) reap(pid);
  return { status: await host.exited, gone, rest };
}

test("a host that calls process.exit() leaves no driver and no grandchild", async () => {
  expect(await run("exit")).toMatchObject({ status: { code: 7 }, gone: [true, true] });
});

test.skipIf(runtime === "deno")(
  "a host that ends by an uncaught error leaves no driver and no grandchild (Deno runs no exit hook then)",
  async () => {
    const { status, gone } = await run("throw");
    expect(status.code).not.toBe(0);
    expect(gone).toEqual([true, true]);
  },
);

test("a host that has ended its driver ends by itself, without a listener left (row 45)", async () => {
  const before = Date.now();
  const { status, gone, rest } = await run("end");
  expect(status).toEqual({ code: 0, signal: null });
  expect(gone).toEqual([true, true]);
  // The grandchild may still be on its way out of the group when the leader is gone.
  expect(rest).toEqual([expect.stringMatching(/^stdin,SIGTERM(,sweep)? 0$/)]);
  // The ladder itself takes 50 ms; the limits that a leftover timer would wait for are 2 s and 3 s.
  expect(Date.now() - before).toBeLessThan(2_000);
});

test("onProcessExit() keeps one listener while anything is registered", () => {
  const before = process.listenerCount("exit");
  const takeBack = [() => undefined, () => undefined].map((kill) => onProcessExit(kill));
  expect(process.listenerCount("exit")).toBe(before + 1);
  takeBack[0]?.();
  takeBack[0]?.();
  expect(process.listenerCount("exit")).toBe(before + 1);
  takeBack[1]?.();
  expect(process.listenerCount("exit")).toBe(before);
});
