import { readdirSync } from "node:fs";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { spawn } from "../../adapters/node/spawn.ts";
import { endChild } from "../../lib/process/ladder.ts";
import { nodeClock } from "../../adapters/node/node-clock.ts";
import { DEFAULT_LIMITS } from "../../lib/limits.ts";
import { waitFor, waitGone } from "../support/processes.ts";
import { runtime, sameRuntime } from "../support/runtime-name.ts";
import {
  digestOf,
  KIT,
  linuxOnly,
  pattern,
  prepared,
  temporaryFiles,
  whole,
} from "./support/companion-process.ts";
import { failureOf } from "./support/session.ts";

linuxOnly();

const MIB = 2 ** 20;
const WAYS = ["fd", "unix", "tcp"] as const;

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield new Uint8Array(65_536);
}

test.each(WAYS)(
  "a driver that is killed in the midst of both directions leaves nothing waiting, over %s",
  async (companionVia) => {
    const { driver } = await prepared(KIT, { companionVia });
    const run = driver.invoke("kill", { input: endless() });
    const steps = run[Symbol.asyncIterator]();
    const { value } = await steps.next();
    const reading = (async () => {
      for await (const _ of value!.data!);
    })();
    const reasons = await Promise.all([
      failureOf(reading),
      failureOf(steps.next()),
      failureOf(run.completed),
    ]);
    expect(reasons[0]).toHaveProperty("code", expect.stringMatching(/^(truncated|driver_exited)$/));
    for (const reason of reasons.slice(1)) {
      expect(reason).toMatchObject({ code: "driver_exited", data: { signal: "SIGKILL" } });
    }
    await run.inputSent.catch(() => undefined);
    expect(value!.data!.digest).toBeUndefined();
    expect(await driver.ended).toMatchObject({ exit: { signal: "SIGKILL" } });
    const late = driver.invoke("mirror", { input: pattern(4) });
    expect(await failureOf(late.completed)).toMatchObject({ code: "driver_exited" });
  },
);

test.each(WAYS)("what a driver sent before its exit is read after it, over %s", async (via) => {
  const { driver } = await prepared(KIT, { companionVia: via });
  const run = driver.invoke("farewell");
  const steps = run[Symbol.asyncIterator]();
  const { value } = await steps.next();
  const reader = value!.data!.getReader();
  let length = (await reader.read()).value?.length ?? 0;
  expect(await driver.ended).toMatchObject({ exit: { code: 7 } });
  for (let step = await reader.read(); !step.done; step = await reader.read())
    length += step.value.length;
  expect(length).toBe(200_000);
  expect(value!.data!.digest).toBe(digestOf(new Uint8Array(200_000).fill(7)));
});

describe("a consumer that takes its time", () => {
  /** How far an endless source got: the last number that the driver printed. */
  const progress = (stderr: string): number => Number(stderr.trimEnd().split("\n").at(-1));

  test.each(WAYS)("makes the driver wait, and costs the host no memory, over %s", async (via) => {
    const { driver, stderr } = await prepared(KIT, { companionVia: via, cancelDeadline: 2_000 });
    const run = driver.invoke("outpour");
    const steps = run[Symbol.asyncIterator]();
    const { value } = await steps.next();
    const reader = value!.data!.getReader();
    let taken = 0;
    const take = async (bytes: number): Promise<void> => {
      for (const end = taken + bytes; taken < end;) taken += (await reader.read()).value!.length;
    };
    await take(1);
    await sleep(200);
    // A window, and a chunk in the hands of each side.
    expect(progress(stderr()) - taken).toBeLessThan(MIB);
    const memory = process.memoryUsage().rss;
    for (let round = 0; round < 20; round += 1) {
      await take(2 * MIB);
      await sleep(10);
    }
    await sleep(100);
    expect(taken).toBeGreaterThan(40 * MIB);
    expect(progress(stderr()) - taken).toBeLessThan(MIB);
    expect(process.memoryUsage().rss - memory).toBeLessThan(64 * MIB);
    await steps.return?.();
    expect(await run.completed).toMatchObject({ cancelled: { code: "run_stopped" } });
    expect(await failureOf(reader.read())).toMatchObject({ code: "run_stopped" });
  });

  test("of one stream does not hold up another", async () => {
    const { driver } = await prepared(KIT);
    const input = pattern(4 * MIB);
    const run = driver.invoke("mirror", { input });
    const steps = run[Symbol.asyncIterator]();
    const slow = (await steps.next()).value!.data!.getReader();
    await slow.read();
    const others = [whole((await steps.next()).value)];
    others.push(whole((await steps.next()).value), whole((await steps.next()).value));
    const expected = { length: input.length, digest: digestOf(input) };
    expect(await Promise.all(others)).toEqual([expected, expected, expected]);
    for (let step = await slow.read(); !step.done;) step = await slow.read();
    expect(await steps.next()).toMatchObject({ done: true });
    expect(await run.completed).toMatchObject({ status: "completed" });
  });
});

describe("a host that ends in the midst", () => {
  const PROGRAM = fileURLToPath(new URL("fixtures/companion-host.ts", import.meta.url));

  test.for([
    ["exit", "waits", "by process.exit(), while it waits for the channel"],
    ["exit", "input", "by process.exit(), while an input waits at a socket"],
    ["exit", "data", "by process.exit(), while data flows"],
    ["throw", "waits", "by an uncaught error, while it waits for the channel"],
    ["throw", "input", "by an uncaught error, while an input waits at a socket"],
  ] as const)("%s, %s: leaves no driver and no file", async ([how, when], { skip }) => {
    skip(runtime === "deno" && how === "throw", "Deno runs no exit hook after an uncaught error");
    const folder = temporaryFiles();
    const host = await spawn(sameRuntime(PROGRAM, how, when, ...KIT), { env: { TMPDIR: folder } });
    onTestFinished(async () => {
      await endChild(host, { clock: nodeClock, limits: DEFAULT_LIMITS, startAt: "SIGKILL" });
      host.release();
    });
    void new Response(host.stderr as BodyInit).text();
    const output = await new Response(host.readable as BodyInit).text();
    const [, pid, files] = /^pid (\d+) files (\d+)$/m.exec(output) ?? [];
    expect(Number(pid)).toBeGreaterThan(0);
    // That there was something to leave behind.
    expect(Number(files)).toBe(when === "data" ? 0 : 1);
    expect((await host.exited).code).not.toBe(0);
    expect(await waitGone(Number(pid))).toBe(true);
    expect(await waitFor(() => readdirSync(folder).length === 0)).toBe(true);
  });
});
