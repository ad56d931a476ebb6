import { describe, expect, test } from "vitest";
import {
  type CompanionFault,
  CompanionHost,
  type CompanionOptions,
} from "../../../lib/driver/companion/mod.ts";
import { SluiceError } from "../../../lib/errors.ts";
import { sha256Digest } from "../../../lib/json/mod.ts";
import { duplexPair } from "../../../lib/streams/mod.ts";
import { encodeBlocks } from "./support/blocks.ts";
import { RUN, stream } from "./support/ids.ts";
import {
  abort,
  credit,
  frame,
  hello,
  quiet,
  ScriptedEnd,
  settle,
  stop,
  text,
} from "./support/scripted-end.ts";

const LIMIT = 1000;

async function opened(options: CompanionOptions = {}): Promise<{
  readonly host: CompanionHost;
  readonly driver: ScriptedEnd;
  readonly faults: [CompanionFault, string][];
  readonly progress: { count: number };
}> {
  const [here, there] = duplexPair({ highWaterMark: 64 });
  const faults: [CompanionFault, string][] = [];
  const progress = { count: 0 };
  const host = new CompanionHost(here, {
    serialStreamBytes: LIMIT,
    onFault: (fault, scope) => void faults.push([fault, scope]),
    onProgress: () => void (progress.count += 1),
    ...options,
  });
  const driver = new ScriptedEnd(there);
  await driver.send(hello({ window: 0 }));
  await host.ready;
  await driver.take();
  host.startInvocation(RUN);
  return { host, driver, faults, progress };
}

const reason = new SluiceError("run_stopped", "Over");

describe("CompanionHost with a serial driver: its streams", () => {
  test("takes payload without credit, and sends neither credit nor stop", async () => {
    const { host, driver } = await opened();
    expect(host.serial).toBe(true);
    const incoming = host.expect(stream("a"));
    await driver.send(
      frame("a", 0, { payload: "x" }),
      frame("a", 1, { payload: "y", final: true }),
    );
    const reader = incoming.data.getReader();
    expect(text((await reader.read()).value)).toBe("xy");
    expect((await reader.read()).done).toBe(true);
    host.expect(stream("b")).discard(reason);
    await host.expect(stream("c")).data.cancel();
    expect(await driver.take()).toEqual([]);
  });

  test("stops reading while a stream is full, until its consumer takes bytes", async () => {
    const { host, driver, progress } = await opened();
    const incoming = host.expect(stream("a"));
    for (let k = 0; k < 20; k += 1)
      await driver.send(frame("a", k, { payload: new Uint8Array(200) }));
    expect(host.reading).toBe(false);
    expect(incoming.full).toBe(true);
    expect(host.held.bytes).toBe(LIMIT);
    const before = progress.count;
    await driver.send(frame("a", 20, { final: true }));
    expect(progress.count).toBe(before);
    expect(await total(incoming.data)).toBe(4000);
    expect(progress.count).toBeGreaterThan(before);
    expect(await incoming.ended).toMatchObject({ end: "final", length: 4000 });
    expect(host.reading).toBe(true);
  });

  test("a full stream that is discarded lets reading go on; what follows is dropped", async () => {
    const { host, driver } = await opened();
    const incoming = host.expect(stream("a"));
    const next = host.expect(stream("b"));
    const bytes = new Uint8Array(200);
    for (let k = 0; k < 20; k += 1) await driver.send(frame("a", k, { payload: bytes }));
    await driver.send(
      frame("a", 20, { final: true }),
      frame("b", 0, { payload: "x", final: true }),
    );
    expect(host.reading).toBe(false);
    expect(next.outcome).toBeUndefined();
    incoming.discard(reason);
    expect(text((await next.data.getReader().read()).value)).toBe("x");
    await expect(incoming.data.getReader().read()).rejects.toBe(reason);
    expect(await incoming.ended).toMatchObject({
      end: "final",
      length: 4000,
      sha256: sha256Digest(new Uint8Array(4000)).slice(7),
    });
    expect((await next.ended).order).toBe(2);
  });

  test("a stream that has ended holds nothing up, whatever it holds", async () => {
    const { host, driver } = await opened();
    const first = host.expect(stream("a"));
    const second = host.expect(stream("b"));
    await driver.send(frame("a", 0, { payload: new Uint8Array(2 * LIMIT), final: true }));
    expect(host.reading).toBe(true);
    await driver.send(frame("b", 0, { payload: "x", final: true }));
    expect(await total(second.data)).toBe(1);
    expect(await total(first.data)).toBe(2 * LIMIT);
  });

  test("keeps early frames up to the session's budget", async () => {
    const { host, driver, faults } = await opened({ earlyBytes: 3 * LIMIT });
    const bytes = new Uint8Array(LIMIT);
    await driver.send(
      frame("a", 0, { payload: bytes, final: true }),
      frame("b", 0, { payload: bytes }),
      frame("b", 1, { payload: bytes }),
    );
    expect(host.heldEarly).toBe(true);
    expect(host.reading).toBe(true);
    expect(await total(host.expect(stream("a")).data)).toBe(LIMIT);
    await driver.send(frame("b", 2, { payload: bytes }));
    expect(faults).toEqual([]);
    const incoming = host.expect(stream("b"));
    expect(host.heldEarly).toBe(false);
    expect(host.reading).toBe(false);
    await driver.send(frame("b", 3, { final: true }));
    expect(await total(incoming.data)).toBe(3 * LIMIT);
    await driver.send(frame("c", 0, { payload: new Uint8Array(3 * LIMIT) }));
    expect(faults).toEqual([]);
    await driver.send(frame("c", 1, { payload: "1" }));
    expect(faults).toMatchObject([
      [{ code: "early_data", data: { bytes: 3 * LIMIT + 1 } }, "session"],
    ]);
  });

  test("frees the budget of early frames that are never announced", async () => {
    const { host, driver, faults } = await opened({ earlyBytes: LIMIT });
    await driver.send(frame("a", 0, { payload: new Uint8Array(LIMIT) }));
    host.endInvocation(RUN);
    expect(host.held.bytes).toBe(0);
    const again = {
      invocation_id: RUN.invocation_id.replace(/.$/, "9"),
      attempt_id: RUN.attempt_id,
    };
    host.startInvocation(again);
    await driver.send(
      frame("a", 1, { final: true }),
      frame(stream("a", again), 0, { payload: new Uint8Array(LIMIT) }),
    );
    expect(faults).toEqual([]);
    expect(await driver.take()).toEqual([]);
  });

  test.each([
    ["a second stream before the first has ended", [frame("a", 0), frame("b", 0)]],
    ["a credit", [credit("in", 1)]],
    ["a stop", [stop("in")]],
  ])("breaks the channel for %s", async (_, blocks) => {
    const { host, driver, faults } = await opened();
    host.expect(stream("a"));
    host.sendInput(stream("in"), new Uint8Array(1));
    await driver.send(...blocks);
    expect(faults).toMatchObject([[{ code: "malformed" }, "channel"]]);
  });

  test("an abort ends a stream, and the next may begin", async () => {
    const { host, driver, faults } = await opened();
    const incoming = host.expect(stream("a"));
    await driver.send(frame("a", 0, { payload: "x" }), abort("a"), frame("b", 0));
    expect(await incoming.ended).toMatchObject({ end: "abort" });
    expect(faults).toEqual([]);
  });

  test("ends a full channel that is closed, and leaves nothing waiting", async () => {
    const { host, driver } = await opened();
    const incoming = host.expect(stream("a"));
    await driver.raw(encodeBlocks([frame("a", 0, { payload: new Uint8Array(2 * LIMIT) })]));
    expect(host.reading).toBe(false);
    host.close();
    expect(await incoming.ended).toMatchObject({ fault: { code: "truncated" } });
    await settle();
    expect(driver.ended).toBe(true);
  });
});

describe("CompanionHost with a serial driver: inputs", () => {
  test("starts them when told, one at a time, without credit", async () => {
    const { host, driver } = await opened();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode("one");
      await held;
    }
    const first = host.sendInput(stream("1"), slow());
    const second = host.sendInput(stream("2"), new TextEncoder().encode("two"));
    const third = host.sendInput(stream("3"), new Uint8Array(0));
    expect(await driver.take()).toEqual([frame("3", 0, { final: true })]);
    second.start();
    first.start();
    third.start();
    expect(await driver.take()).toEqual([
      frame("2", 0, { payload: "two", final: true }),
      frame("1", 0, { payload: "one" }),
    ]);
    const fourth = host.sendInput(stream("4"), new TextEncoder().encode("four"));
    fourth.start();
    expect(await driver.take()).toEqual([]);
    release();
    expect(await driver.take()).toEqual([
      frame("1", 1, { final: true }),
      frame("4", 0, { payload: "four", final: true }),
    ]);
    expect(await first.ended).toMatchObject({ end: "final", length: 3 });
    expect(await fourth.ended).toMatchObject({ end: "final", length: 4 });
  });

  test("an aborted input gives way to the next, also before it has started", async () => {
    const { host, driver } = await opened();
    const never = host.sendInput(stream("0"), new Uint8Array(1));
    const first = host.sendInput(stream("1"), new ReadableStream<Uint8Array>());
    const second = host.sendInput(stream("2"), new TextEncoder().encode("two"));
    first.start();
    second.start();
    never.abort(reason);
    first.abort(reason);
    expect(await driver.take()).toEqual([
      abort("0", "Over"),
      abort("1", "Over"),
      frame("2", 0, { payload: "two", final: true }),
    ]);
  });

  test("go on after the driver has ended its half, until writing fails", async () => {
    const { host, driver } = await opened();
    await driver.end();
    expect(host.takesInput).toBe(true);
    const input = host.sendInput(stream("in"), new TextEncoder().encode("still"));
    input.start();
    expect(await driver.take()).toEqual([frame("in", 0, { payload: "still", final: true })]);
    await host.halfClose();
    expect(host.takesInput).toBe(false);
  });

  test("halfClose() leaves the driver's streams alone", async () => {
    const { host, driver } = await opened();
    const incoming = host.expect(stream("a"));
    await host.halfClose();
    await driver.send(frame("a", 0, { payload: "x" }), frame("a", 1, { final: true }));
    expect(await total(incoming.data)).toBe(1);
  });

  test("a driver that reads nothing holds up its input alone", async () => {
    const [here, there] = duplexPair({ highWaterMark: 1 });
    const host = new CompanionHost(here);
    const writer = there.writable.getWriter();
    void quiet(writer.write(encodeBlocks([hello({ window: 0 })])));
    await host.ready;
    host.startInvocation(RUN);
    let pulled = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        pulled += 1;
        yield new Uint8Array(64 * 1024);
      }
    }
    const input = host.sendInput(stream("in"), endless());
    input.start();
    await settle();
    expect(pulled).toBeLessThan(8);
    const incoming = host.expect(stream("a"));
    void quiet(writer.write(encodeBlocks([frame("a", 0, { payload: "x", final: true })])));
    expect(await total(incoming.data)).toBe(1);
    host.close();
    await expect(input.ended).rejects.toMatchObject({ code: "truncated" });
    expect(pulled).toBeLessThan(8);
  });
});

async function total(data: ReadableStream<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const chunk of data) bytes += chunk.length;
  return bytes;
}
