import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Driver } from "../../lib/driver/mod.ts";
import {
  digestOf,
  linuxOnly,
  pattern,
  prepared,
  PYTHON,
  whole,
  wholes,
} from "./support/companion-process.ts";
import { failureOf } from "./support/session.ts";

linuxOnly();

const MIB = 2 ** 20;
const INPUT = pattern(4 * MIB);
const WHOLE = { length: INPUT.length, digest: digestOf(INPUT) };

/** What the driver still does after whatever it was put through. */
async function worksOn(driver: Driver): Promise<void> {
  const run = driver.invoke("mirror", { input: INPUT });
  expect(await wholes(run)).toEqual([WHOLE, WHOLE, WHOLE, WHOLE]);
  expect(await run.completed).toMatchObject({ status: "completed" });
}

test("an input that a serial driver does not read is skipped before the next one", async () => {
  const { driver } = await prepared(PYTHON);
  const run = driver.invoke("count", { input: INPUT });
  let ticks = 0;
  for await (const { kind } of run) {
    expect(kind).toBe("tick");
    if ((ticks += 1) === 3) break;
  }
  expect(await run.completed).toMatchObject({ status: "cancelled" });
  await worksOn(driver);
  // A frame that was begun is finished, which the driver's next reading allows.
  expect(await run.inputSent).toMatchObject({ end: "abort" });
});

test("a consumer that stalls on a serial driver's stream loses that stream, not the run", async () => {
  const { driver } = await prepared(PYTHON, { stallTimeout: 300 });
  const run = driver.invoke("mirror", { input: INPUT });
  const steps = run[Symbol.asyncIterator]();
  const first = await steps.next();
  const reader = first.value!.data!.getReader();
  // Nothing of it is read, and the next observation comes only after it.
  const second = await steps.next();
  expect(await failureOf(reader.read())).toMatchObject({ code: "head_of_line" });
  expect(await whole(second.value)).toEqual(WHOLE);
  for (let step = await steps.next(); step.done !== true; step = await steps.next())
    expect(await whole(step.value)).toEqual(WHOLE);
  expect(await run.completed).toMatchObject({ status: "completed", last_sequence: 4 });
  await worksOn(driver);
});

test("a cancel in the midst of a stream is heeded between two frames", async () => {
  const { driver } = await prepared(PYTHON);
  const run = driver.invoke("mirror", { input: pattern(16 * MIB) });
  let taken = 0;
  for await (const { data } of run) {
    for await (const chunk of data!) if ((taken += chunk.length) > MIB) break;
    break;
  }
  expect(await run.completed).toMatchObject({
    status: "cancelled",
    cancelled: { code: "run_stopped" },
    last_sequence: 1,
  });
  await worksOn(driver);
});

test("a stream that is stopped alone is dropped, and the others come", async () => {
  const { driver } = await prepared(PYTHON);
  const run = driver.invoke("mirror", { input: INPUT });
  const seen: unknown[] = [];
  for await (const observation of run) {
    if (observation.sequence === 2) {
      for await (const _ of observation.data!) break;
    } else if (observation.sequence !== 3) seen.push(await whole(observation));
  }
  expect(seen).toEqual([WHOLE, WHOLE]);
  expect(await run.completed).toMatchObject({ status: "completed" });
  await worksOn(driver);
});

test("a slow consumer makes a serial driver wait, and costs the host no memory", async () => {
  const { driver } = await prepared(PYTHON);
  const run = driver.invoke("mirror", { input: INPUT });
  for await (const { sequence, data } of run) {
    const memory = process.memoryUsage().rss;
    let taken = 0;
    for await (const chunk of data!) {
      taken += chunk.length;
      if (sequence === 1 && taken < MIB) await sleep(20);
      // The host holds 256 KiB of it and a frame; the rest waits in the system and in the driver.
      expect(data!.length - taken).toBeLessThan(MIB);
    }
    expect(process.memoryUsage().rss - memory).toBeLessThan(64 * MIB);
    expect(data!.digest).toBe(WHOLE.digest);
  }
  expect(await run.completed).toMatchObject({ status: "completed" });
});
