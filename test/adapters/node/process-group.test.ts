import { expect, test } from "vitest";
import { ProcessGroup } from "../../../adapters/node/process-group.ts";
import { isAlive } from "../../support/processes.ts";
import { firstLine, linuxOnly, start } from "./start.ts";

linuxOnly();

test("ProcessGroup signals no stranger that got the id of a reaped leader (row 43)", async () => {
  const stranger = await start(["sleep", "30"]);
  let gone = 0;
  const group = new ProcessGroup(stranger.pid, () => (gone += 1));
  group.leaderExited();
  expect(group.kill("SIGKILL")).toBe(false);
  expect(isAlive(stranger.pid)).toBe(true);
  expect(gone).toBe(1);
});

test("ProcessGroup is given up after the sweep that follows the exit (row 43)", async () => {
  const child = await start(["sh", "-c", "sleep 30 & echo $!"]);
  await firstLine(child.readable);
  await child.exited;
  expect(child.kill("SIGTERM")).toBe(true);
  expect(child.kill("SIGKILL")).toBeTypeOf("boolean");
  expect(child.kill("SIGKILL")).toBe(false);
});
