import { expect, test } from "vitest";
import { nodeClock } from "../../../adapters/node/node-clock.ts";
import { sameRuntime } from "../../support/runtime-name.ts";
import { fileURLToPath } from "node:url";
import { start, text } from "./start.ts";

const program = fileURLToPath(new URL("programs/host-waits.ts", import.meta.url));

test("nodeClock fires a timer once, unless it was cancelled", async () => {
  let fired = 0;
  nodeClock.setTimer(() => (fired += 1), 5).cancel();
  const before = nodeClock.now();
  await new Promise<void>((resolve) => void nodeClock.setTimer(resolve, 10, { keepAlive: true }));
  expect(nodeClock.now() - before).toBeGreaterThanOrEqual(9);
  expect(fired).toBe(0);
});

test("nodeClock lets the process end unless keepAlive is set", async () => {
  const host = await start(sameRuntime(program));
  expect(await text(host.readable)).toBe("kept\n");
  expect((await host.exited).code).toBe(0);
});
