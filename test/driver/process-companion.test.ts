import { mkdirSync, readdirSync, rmdirSync } from "node:fs";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { spawnDriver } from "../../adapters/node/spawn-driver.ts";
import type { Driver } from "../../lib/driver/mod.ts";
import { runtime } from "../support/runtime-name.ts";
import {
  closing,
  digestOf,
  hasChannel,
  host,
  junk,
  KIT,
  linuxOnly,
  pattern,
  payloads,
  PLAIN,
  prepared,
  PYTHON,
  temporaryFiles,
  wholes,
} from "./support/companion-process.ts";
import { failureOf } from "./support/session.ts";

linuxOnly();

const MIB = 2 ** 20;
const TIMEOUT = 30_000;
const WAYS = ["fd", "unix", "tcp"] as const;
const DRIVERS = [
  ["the kit, four streams at once", KIT],
  ["Python, one stream after the other", PYTHON],
] as const;

describe.each(DRIVERS)("with a driver on %s", (_, command) => {
  test.each(WAYS)(
    "16 MiB of input come back four times, unchanged, over %s",
    { timeout: TIMEOUT },
    async (companionVia) => {
      const input = pattern(16 * MIB);
      const { driver, folder } = await prepared(command, { companionVia, companion: "required" });
      const run = driver.invoke("mirror", { input });
      const back = await wholes(run);
      const expected = { length: input.length, digest: digestOf(input) };
      expect(back).toEqual([expected, expected, expected, expected]);
      expect(await run.completed).toMatchObject({ status: "completed" });
      expect(await run.inputSent).toEqual({ end: "final", length: input.length });
      // The address is gone as soon as the driver has it, not only in the end.
      expect(readdirSync(folder)).toEqual([]);
      expect(await driver.close()).toMatchObject({ exit: { code: 0 } });
    },
  );

  test("a wrapper that closes descriptor 3 costs the channel, not the driver", async () => {
    const { driver, stderr } = await prepared(closing(command));
    expect(hasChannel(driver)).toBe(false);
    expect(stderr().toLowerCase()).toContain("the companion channel cannot be opened: ");
    await roundTrip(driver);
  });

  test("a wrapper that closes descriptor 3 does no harm to a Unix socket", async () => {
    const { driver } = await prepared(closing(command), { companionVia: "unix" });
    expect(hasChannel(driver)).toBe(true);
    await roundTrip(driver);
  });

  test.each(["unix", "tcp"] as const)("a wrong token first is refused, over %s", async (via) => {
    const { driver, stderr } = await prepared(junk("wrong-token", command), { companionVia: via });
    expect(stderr()).toBe("refused\n");
    expect(hasChannel(driver)).toBe(true);
    await roundTrip(driver);
  });

  test.each(["unix", "tcp"] as const)("40 junk connections do no harm, over %s", async (via) => {
    const { driver } = await prepared(junk("junk", command), { companionVia: via });
    expect(hasChannel(driver)).toBe(true);
    await roundTrip(driver);
  });

  test('companion: "off" offers no channel and is no complaint', async () => {
    const { driver, stderr } = await prepared(command, { companion: "off" });
    expect(hasChannel(driver)).toBe(false);
    await roundTrip(driver);
    expect(stderr()).toBe("");
  });
});

/** Has the driver read an input, wherever that lies. */
async function roundTrip(driver: Driver): Promise<void> {
  const input = new TextEncoder().encode("some words of input\n".repeat(10_000));
  const operation = driver.identity.name === "companion" ? "digest" : "tokenise";
  const run = driver.invoke(operation, { input });
  const last = (await payloads(run)).at(-1);
  expect(last).toMatchObject({ bytes: input.length });
  expect(Object.values(last as object)).toContain(digestOf(input));
  expect(await run.inputSent).toEqual({ end: "final", length: input.length });
}

describe("spawnDriver() and a driver without a companion channel", () => {
  test.each(WAYS)("takes the offer back, over %s", async (companionVia) => {
    const { driver } = await prepared(PLAIN, { companionVia });
    expect(hasChannel(driver)).toBe(false);
    expect((await driver.close()).exit).toMatchObject({ code: 0 });
  });

  test.each(WAYS)('rejects with companion: "required", over %s', async (companionVia) => {
    const { starting } = host(PLAIN, { companionVia, companion: "required" });
    expect(await failureOf(starting)).toMatchObject({ class: "capability_mismatch" });
  });

  test("leaves no socket when the driver does not start", async () => {
    const command = ["sh", "-c", "exit 3"];
    const { starting } = host(command, { companionVia: "unix" });
    expect(await failureOf(starting)).toMatchObject({
      code: "driver_exited",
      data: { exitCode: 3 },
    });
    const missing = host(["no-such-program-anywhere"], { companionVia: "unix" }).starting;
    expect(await failureOf(missing)).toMatchObject({ code: "spawn_failed" });
  });
});

describe("spawnDriver() starts nothing for", () => {
  test.each([
    ["an unknown policy", { companion: "perhaps" }, TypeError],
    ["an unknown way", { companionVia: "pigeon" }, TypeError],
    ["a limit out of range", { inFlight: 0 }, RangeError],
    ["a malformed environment", { env: { "A=B": "" } }, TypeError],
  ])("%s", async (_name, options, type) => {
    temporaryFiles();
    let spawned = 0;
    const wrong = { companionVia: "unix", onSpawn: () => (spawned += 1), ...options };
    expect(await failureOf(spawnDriver(PLAIN, wrong as object))).toBeInstanceOf(type);
    expect(spawned).toBe(0);
  });

  test("a named pipe where there is none", async () => {
    const error = await failureOf(spawnDriver(PLAIN, { companionVia: "pipe" }));
    expect(error).toMatchObject({
      code: "companion_unavailable",
      message: expect.stringContaining("via pipe on linux: use unix"),
    });
  });

  test("a folder of temporary files that is too long for a socket", async () => {
    const folder = temporaryFiles();
    process.env["TMPDIR"] = `${folder}/${"long".repeat(20)}`;
    mkdirSync(process.env["TMPDIR"]);
    expect(await failureOf(spawnDriver(PLAIN, { companionVia: "unix" }))).toMatchObject({
      code: "companion_unavailable",
      message: expect.stringContaining("set TMPDIR to a shorter one"),
    });
    // Fails when something is left in it.
    rmdirSync(process.env["TMPDIR"]);
  });
});

describe("spawnDriver({ signal })", () => {
  const MUTE = ["sh", "-c", "sleep 60"];

  test.each(WAYS)("gives a start up, and leaves nothing, over %s", async (companionVia) => {
    const controller = new AbortController();
    const reason = new Error("no longer wanted");
    const { starting } = host(MUTE, {
      companionVia,
      signal: controller.signal,
      onSpawn: () => setTimeout(() => controller.abort(reason), 50),
    });
    expect(await failureOf(starting)).toMatchObject({ code: "aborted", cause: reason });
  });

  test("starts nothing when it has aborted before", async () => {
    let spawned = 0;
    const { starting } = host(MUTE, {
      companionVia: "unix",
      signal: AbortSignal.abort(),
      onSpawn: () => void (spawned += 1),
    });
    expect(await failureOf(starting)).toMatchObject({ code: "aborted" });
    expect(spawned).toBe(0);
  });

  test("has no effect once the driver has said hello", async () => {
    const controller = new AbortController();
    const { driver } = await prepared(PLAIN, { signal: controller.signal });
    controller.abort();
    await sleep(50);
    expect((await driver.close()).exit).toEqual({ code: 0, signal: null });
  });
});

interface Heritage {
  readonly names: readonly string[];
  readonly grandchild: string;
  readonly sockets: readonly string[];
}

test.each(WAYS)(
  "a driver's own children inherit neither the address nor the token, over %s",
  async (companionVia) => {
    const { driver } = await prepared(KIT, { companionVia });
    expect(hasChannel(driver)).toBe(true);
    const [seen] = (await payloads(driver.invoke("heritage"))) as [Heritage];
    expect(seen.names).toEqual([]);
    expect(seen.grandchild).not.toContain("SLUICE_COMPANION");
    expect(seen.grandchild).toContain("PATH=");
  },
);

test.skipIf(runtime === "deno")(
  "a driver's own children do not inherit descriptor 3 (Deno cannot keep it from them)",
  async () => {
    const { driver } = await prepared(KIT);
    const [{ grandchild, sockets }] = (await payloads(driver.invoke("heritage"))) as [Heritage];
    expect(sockets).toContain("3");
    expect(grandchild).not.toMatch(/ 3 -> socket:/);
  },
);
