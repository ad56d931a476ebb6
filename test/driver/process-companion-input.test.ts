import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Driver } from "../../lib/driver/mod.ts";
import {
  digestOf,
  KIT,
  linuxOnly,
  pattern,
  payloads,
  PLAIN,
  prepared,
  PYTHON,
  wholes,
} from "./support/companion-process.ts";
import { failureOf } from "./support/session.ts";

linuxOnly();

const MIB = 2 ** 20;

/** A source that counts what was taken of it, and notices that nobody wants the rest. */
class Endless {
  taken = 0;
  returned = false;

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        this.taken += 65_536;
        yield new Uint8Array(65_536);
      }
    } finally {
      this.returned = true;
    }
  }
}

async function digestOperation(driver: Driver, input: Uint8Array): Promise<void> {
  const run = driver.invoke("digest", { input });
  const expected = { bytes: input.length, sha256: digestOf(input) };
  expect(await payloads(run)).toMatchObject([expected]);
  expect(await run.inputSent).toEqual({ end: "final", length: input.length });
}

describe.each([
  ["the companion channel", {}],
  ["a one-shot socket", { companion: "off" }],
] as const)("an input over %s", (way, options) => {
  const overSocket = way === "a one-shot socket";

  test("is read whole, also an empty one", async () => {
    const { driver } = await prepared(KIT, options);
    for (const length of [0, 4, 3 * MIB]) await digestOperation(driver, pattern(length));
    expect(await payloads(driver.invoke("digest"))).toMatchObject([{ bytes: 0, kind: "pipe" }]);
  });

  test("that is not read costs the run nothing, and its source is let go", async () => {
    const { driver } = await prepared(KIT, options);
    const input = new Endless();
    const run = driver.invoke("unread", { input });
    expect(await payloads(run)).toEqual([undefined]);
    expect(await run.completed).toMatchObject({ status: "completed" });
    const sent = run.inputSent;
    if (overSocket) expect(await failureOf(sent)).toMatchObject({ code: "input_unread" });
    else expect(await sent).toMatchObject({ end: "abort" });
    expect(input.taken).toBeLessThan(MIB);
    await digestOperation(driver, pattern(MIB));
  });

  test("that is read half costs the run nothing, and its source is let go", async () => {
    const { driver } = await prepared(KIT, options);
    const input = new Endless();
    const run = driver.invoke("half", { input });
    const [first] = (await payloads(run)) as [number];
    expect(first).toBeGreaterThan(0);
    expect(await run.completed).toMatchObject({ status: "completed" });
    const sent = run.inputSent;
    if (overSocket) expect(await failureOf(sent)).toMatchObject({ code: "input_unread" });
    else expect((await sent).length).toBeGreaterThanOrEqual(first);
    expect(input.returned).toBe(true);
    await digestOperation(driver, pattern(MIB));
  });

  test("to a driver that takes a sip waits for it, unread", async () => {
    const { driver } = await prepared(KIT, { ...options, cancelDeadline: 2_000 });
    const input = new Endless();
    const run = driver.invoke("sip", { input });
    for await (const { kind } of run) {
      expect(kind).toBe("sip");
      await sleep(200);
      const { taken } = input;
      // A window or a socket's buffers, the driver's own reading ahead, and a chunk.
      expect(taken).toBeLessThan(2 * MIB);
      await sleep(100);
      expect(input.taken).toBe(taken);
      break;
    }
    expect(await run.completed).toMatchObject({ status: "cancelled" });
    expect(input.returned).toBe(true);
    await digestOperation(driver, pattern(MIB));
  });

  test("whose source fails is not taken for a whole one", async () => {
    const { driver } = await prepared(KIT, { ...options, cancelDeadline: 2_000 });
    const input = (async function* () {
      yield pattern(MIB);
      await sleep(50);
      throw new Error("the disk is gone");
    })();
    const run = driver.invoke("digest", { input });
    const seen = await payloads(run).catch(() => []);
    expect(seen).toEqual([]);
    const { status } = await run.completed;
    expect(status).toBe(overSocket ? "cancelled" : "errored");
    await digestOperation(driver, pattern(4));
  });
});

describe("an inputHandle of the caller", () => {
  test("names a file that the driver opens", async () => {
    const { driver, folder } = await prepared(KIT);
    const value = join(folder, "input");
    writeFileSync(value, pattern(MIB));
    const run = driver.invoke("digest", { inputHandle: { kind: "pipe", value } });
    expect(await payloads(run)).toMatchObject([{ bytes: MIB, sha256: digestOf(pattern(MIB)) }]);
    expect(await run.inputSent).toEqual({ end: "final", length: 0 });
    rmSync(value);
  });

  test.each([
    ["the kit", KIT, "digest", 'Input handles of kind "memfd" cannot be opened here'],
    ["Python", PYTHON, "tokenise", "input of kind memfd cannot be opened here"],
  ])("of a kind that %s cannot open fails the invocation alone", async (...row) => {
    const [, command, operation, words] = row;
    const { driver, stderr } = await prepared(command);
    const run = driver.invoke(operation, { inputHandle: { kind: "memfd", value: "memory" } });
    await payloads(run);
    expect(await run.completed).toMatchObject({ status: "errored" });
    expect(stderr()).toContain(words);
    const { length } = await wholes(driver.invoke("mirror", { input: pattern(4) }));
    expect(length).toBe(4);
  });

  test("excludes an input", async () => {
    const { driver } = await prepared(KIT);
    const inputHandle = { kind: "pipe", value: "/dev/null" } as const;
    expect(() => driver.invoke("digest", { input: pattern(4), inputHandle })).toThrow(TypeError);
  });
});

test("a driver of another make reads its input from the socket that the handle names", async () => {
  const { driver } = await prepared(PYTHON, { companion: "off" });
  const input = new TextEncoder().encode("word ".repeat(1_000));
  const run = driver.invoke("tokenise", { input });
  expect((await payloads(run)).at(-1)).toMatchObject({ bytes: 5_000, words: 1_000 });
  expect(await run.inputSent).toEqual({ end: "final", length: 5_000 });
});

test("a driver that knows no input leaves none of it behind", async () => {
  const { driver } = await prepared(PLAIN);
  const input = new Endless();
  const run = driver.invoke("op", { input });
  await payloads(run);
  expect(await failureOf(run.inputSent)).toMatchObject({ code: "input_unread" });
  expect(input.taken).toBe(0);
});
