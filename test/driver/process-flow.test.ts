import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { kit, prepared, python } from "./support/process.ts";

/** How far a flooding driver got: the last number that it printed to stderr. */
function progress(stderr: string): number {
  return Number(stderr.trimEnd().split("\n").at(-1));
}

test.each([
  ["in Python", python("flood")],
  ["on the kit", kit()],
])(
  "a host that reads slowly makes the driver block, and its own memory stays flat: %s",
  async (_, command) => {
    const { driver, stderr } = await prepared(command, { cancelDeadline: 200 });
    const steps = driver.invoke("flood")[Symbol.asyncIterator]();
    await steps.next();
    await sleep(300);
    const first = progress(stderr());
    const memory = process.memoryUsage().rss;
    for (let taken = 0; taken < 20; taken += 1) {
      await steps.next();
      await sleep(20);
    }
    const second = progress(stderr());
    // A frame has about 1 KB. The host holds 64 of them and a chunk, the runtime 64 KiB and a chunk, the
    // system's pipe a few hundred KiB, the driver 128 KiB: without backpressure it were ten thousands.
    expect(first).toBeGreaterThan(64);
    expect(first).toBeLessThan(2_500);
    expect(second - first).toBeLessThan(600);
    expect(process.memoryUsage().rss - memory).toBeLessThan(64 * 2 ** 20);
    await driver.close();
  },
);

test("a fast consumer gets all of a flood in order", async () => {
  const { driver } = await prepared(kit());
  let count = 0;
  for await (const { sequence } of driver.invoke("flood")) {
    count += 1;
    expect(sequence).toBe(count);
    if (count === 5_000) break;
  }
  expect(driver.stats.framesIn).toBeGreaterThan(5_000);
  await driver.close();
});
