import { describe, expect, test } from "vitest";
import { isSluiceError, toBytes } from "../../lib/mod.ts";
import { COMPANION_PROTOCOL, type Invocation } from "../../lib/driver/mod.ts";
import { duplexPair, loopback, VirtualClock } from "../../lib/testing/mod.ts";

const PLAN = { planDigest: `sha256:${"0".repeat(64)}`, capabilityToken: "token-token" };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array): string => new TextDecoder().decode(data);

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return isSluiceError(error) ? error.code : `no SluiceError: ${String(error)}`;
}

describe("loopback()", () => {
  test("runs an invocation with payloads, input and data, whose digests agree", async () => {
    const { driver, served } = await loopback({
      async invoke({ input, observe }) {
        const given = await toBytes(input, { maxBytes: 1000 });
        await observe("length", { payload: given.length });
        await observe("copy", { data: given });
      },
    });
    await driver.prepare(PLAN);
    const run = driver.invoke("copy", { input: bytes("over the channel") });
    const seen: unknown[] = [];
    for await (const { kind, payload, data } of run)
      seen.push(kind, payload ?? text(await toBytes(data!, { maxBytes: 1000 })));
    expect(seen).toEqual(["length", 16, "copy", "over the channel"]);
    expect(await run.completed).toMatchObject({ status: "completed", last_sequence: 2 });
    expect(await run.inputSent).toEqual({ end: "final", length: 16 });
    await driver.close();
    await served;
  });

  test("close() ends both sides at once, also before prepare", async () => {
    const { driver, served } = await loopback({ async invoke() {} });
    const { reason, rungs } = await driver.close();
    await served;
    expect([reason.code, rungs]).toEqual(["session_closed", []]);
  });

  test("close() cancels what is under way and waits for its handler", async () => {
    const clock = new VirtualClock();
    const ended: string[] = [];
    const { driver, served } = await loopback(
      {
        async invoke({ signal, observe }) {
          await observe("started");
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          ended.push("handler");
        },
      },
      { clock },
    );
    await driver.prepare(PLAN);
    const run = driver.invoke("wait");
    await run[Symbol.asyncIterator]().next();
    const { rungs } = await driver.close();
    await served;
    expect([ended, rungs]).toEqual([["handler"], ["shutdown"]]);
    expect(await run.completed).toMatchObject({ status: "cancelled" });
    expect(clock.pending).toBe(0);
  });

  test("moves both sides by one clock", async () => {
    const clock = new VirtualClock(5);
    let deaf!: Invocation;
    const started = Promise.withResolvers<void>();
    const { driver, served } = await loopback(
      {
        invoke: (invocation) => {
          deaf = invocation;
          started.resolve();
          return new Promise(() => {});
        },
      },
      { clock, cancelDeadline: 100 },
    );
    await driver.prepare(PLAN);
    const run = driver.invoke("deaf", { timeout: 50 });
    await started.promise;
    await deaf.observe("k");
    const steps = run[Symbol.asyncIterator]();
    expect((await steps.next()).value).toMatchObject({ monotonic_ns: 5e6 });
    clock.advance(50);
    expect(await codeOf(steps.next())).toBe("invocation_timeout");
    clock.advance(100);
    expect(await codeOf(run.completed)).toBe("cancellation_timeout");
    await driver.ended;
    // The handler never returns: its side waits for the grace of this clock.
    const over = served.then(
      () => "over",
      () => "over",
    );
    while (clock.pending === 0) await Promise.resolve();
    clock.advance(1000);
    expect(await over).toBe("over");
    expect(clock.pending).toBe(0);
  });

  test("offers a companion channel unless told not to", async () => {
    for (const companion of ["auto", "off"] as const) {
      const { driver, served } = await loopback({ async invoke() {} }, { companion });
      expect(driver.capabilities.protocols.includes(COMPANION_PROTOCOL)).toBe(companion === "auto");
      await driver.prepare(PLAN);
      const sent = driver.invoke("op", { input: bytes("x") }).completed;
      if (companion === "off") expect(await codeOf(sent)).toBe("input_undeliverable");
      else expect(await sent).toMatchObject({ status: "completed" });
      await driver.close();
      await served;
    }
  });

  test("a refused hello ends both sides and rejects", async () => {
    const starting = loopback(
      { async invoke() {}, identity: { name: "other" } },
      { expectIdentity: { name: "wanted" } },
    );
    expect(await codeOf(starting)).toBe("artifact_mismatch");
    const versions = { minimum: "2", maximum: "3" };
    expect(await codeOf(loopback({ async invoke() {}, versions }))).toBe("unsupported_rpc_version");
  });

  test("holds the handler back when the consumer is slow", async () => {
    let sent = 0;
    const { driver, served } = await loopback(
      {
        async invoke({ observe }) {
          for (let n = 1; n <= 2000; n += 1) {
            await observe("k", { payload: "x".repeat(500) });
            sent = n;
          }
        },
      },
      { highWaterMark: 4096 },
    );
    await driver.prepare(PLAN);
    let taken = 0;
    let most = 0;
    for await (const _ of driver.invoke("flood")) {
      taken += 1;
      if (taken % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      most = Math.max(most, sent - taken);
    }
    expect(taken).toBe(2000);
    expect(most).toBeLessThan(400);
    await driver.close();
    await served;
  });
});

test("duplexPair() is at hand for scripted peers", async () => {
  const [one, other] = duplexPair();
  const writer = one.writable.getWriter();
  await writer.write(bytes("x"));
  await writer.close();
  expect(text(await toBytes(other.readable, { maxBytes: 10 }))).toBe("x");
});
