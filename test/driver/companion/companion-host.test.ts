import { describe, expect, test } from "vitest";
import {
  companionHandle,
  type CompanionFault,
  CompanionHost,
  type CompanionOptions,
  streamOfHandle,
  unavailableStream,
} from "../../../lib/driver/companion/mod.ts";
import { SluiceError } from "../../../lib/errors.ts";
import { sha256Digest } from "../../../lib/json/mod.ts";
import { duplexPair } from "../../../lib/streams/mod.ts";
import { OTHER, RUN, stream } from "./support/ids.ts";
import {
  abort,
  credit,
  frame,
  hello,
  ScriptedEnd,
  quiet,
  settle,
  stop,
  text,
} from "./support/scripted-end.ts";

interface Setup {
  readonly host: CompanionHost;
  readonly driver: ScriptedEnd;
  readonly faults: [CompanionFault, string][];
}

/** A host with a driver that grants credit; both hellos are through. */
async function opened(
  options: CompanionOptions = {},
  peer: { window?: number } = {},
): Promise<Setup> {
  const [here, there] = duplexPair();
  const faults: [CompanionFault, string][] = [];
  const host = new CompanionHost(here, {
    onFault: (fault, scope) => void faults.push([fault, scope]),
    ...options,
  });
  const driver = new ScriptedEnd(there);
  await driver.send(hello(peer));
  await host.ready;
  await driver.take();
  host.startInvocation(RUN);
  return { host, driver, faults };
}

const reason = new SluiceError("data_discarded", "Not taken");

describe("CompanionHost: hello", () => {
  test("answers the driver's hello, without a token", async () => {
    const [here, there] = duplexPair();
    const host = new CompanionHost(here, { token: "c0ffee", companionWindow: 1000 });
    const driver = new ScriptedEnd(there);
    expect(await driver.take()).toEqual([]);
    await driver.send(hello({ token: "c0ffee", window: 5 }));
    expect(await driver.take()).toEqual([hello({ window: 1000 })]);
    expect((await host.ready).window).toBe(5);
    expect(host.serial).toBe(false);
  });

  test.each(["", "c0ffe", "c0ffee0", "C0FFEE"])("refuses the token %j", async (token) => {
    const [here, there] = duplexPair();
    const faults: unknown[] = [];
    const host = new CompanionHost(here, {
      token: "c0ffee",
      onFault: (fault) => faults.push(fault),
    });
    const driver = new ScriptedEnd(there);
    await driver.send(hello({ token }));
    await expect(host.ready).rejects.toMatchObject({ code: "wrong_token" });
    expect(await driver.take()).toEqual([]);
    expect(driver.ended).toBe(true);
    expect(faults).toEqual([]);
  });

  test("wants the hello first, and once", async () => {
    const [here, there] = duplexPair();
    const host = new CompanionHost(here);
    await new ScriptedEnd(there).send(credit("a", 1));
    await expect(host.ready).rejects.toMatchObject({ code: "malformed", data: { offset: 0 } });
    const { driver, faults } = await opened();
    await driver.send(hello());
    expect(faults).toMatchObject([[{ code: "malformed" }, "channel"]]);
  });

  test("rejects ready when the channel ends before the hello", async () => {
    const [here, there] = duplexPair();
    const host = new CompanionHost(here);
    await new ScriptedEnd(there).end();
    await expect(host.ready).rejects.toMatchObject({ code: "unavailable" });
  });

  test("checks its limits", () => {
    expect(() => new CompanionHost(duplexPair()[0], { companionWindow: 2 ** 31 })).toThrow(
      RangeError,
    );
    expect(() => new CompanionHost(duplexPair()[0], { dataFrameBytes: 262_145 })).toThrow(
      RangeError,
    );
  });
});

describe("CompanionHost: streams of the driver", () => {
  test("grants a window when a stream is taken, and more as half of it was consumed", async () => {
    const { host, driver } = await opened({ companionWindow: 8 });
    const incoming = host.expect(stream("a"));
    expect(await driver.take()).toEqual([]);
    expect(incoming.taken).toBe(false);
    const reader = incoming.data.getReader();
    expect(incoming.taken).toBe(true);
    expect(await driver.take()).toEqual([]);
    const first = reader.read();
    expect(incoming.awaited).toBe(true);
    expect(await driver.take()).toEqual([credit("a", 8)]);
    await driver.send(frame("a", 0, { payload: "abc" }), frame("a", 1, { payload: "defgh" }));
    expect(text((await first).value)).toBe("abc");
    expect(await driver.take()).toEqual([]);
    expect(incoming.full).toBe(true);
    expect(text((await reader.read()).value)).toBe("defgh");
    expect(await driver.take()).toEqual([credit("a", 8)]);
    const last = reader.read();
    await driver.send(frame("a", 2, { final: true }));
    expect((await last).done).toBe(true);
    expect(incoming.data.length).toBe(8);
    expect(incoming.data.digest).toBe(sha256Digest("abcdefgh"));
    expect(await incoming.ended).toEqual({
      end: "final",
      length: 8,
      sha256: sha256Digest("abcdefgh").slice(7),
      order: 1,
      fault: undefined,
    });
  });

  test("grants in steps of half a window, and never lets more come than the window holds", async () => {
    const window = 40_000;
    const { host, driver } = await opened({ companionWindow: window });
    const reader = host.expect(stream("a")).data.getReader();
    let [granted, sent, got, grants] = [0, 0, 0, 0];
    for (let round = 0; round < 32; round += 1) {
      const read = reader.read();
      for (const block of await driver.take()) {
        if (!("bytes" in block)) continue;
        expect(block.bytes).toBeGreaterThanOrEqual(window / 2);
        granted += block.bytes;
        grants += 1;
      }
      for (; sent < granted; sent += 5000)
        await driver.send(frame("a", sent / 5000, { payload: new Uint8Array(5000) }));
      got += (await read).value!.length;
      expect(granted - got).toBeLessThanOrEqual(window);
    }
    expect(got).toBe(32 * 5000);
    expect(grants).toBe(9);
  });

  test("breaks the channel for payload over the credit, and before any credit", async () => {
    const over = await opened({ companionWindow: 8 });
    const incoming = over.host.expect(stream("a"));
    const read = quiet(incoming.data.getReader().read());
    await over.driver.send(frame("a", 0, { payload: "123456789" }));
    await expect(read).rejects.toMatchObject({ code: "malformed", data: stream("a") });
    expect(over.faults).toMatchObject([[{ code: "malformed" }, "channel"]]);
    expect(over.driver.ended).toBe(true);
    expect(await over.host.ended).toBe(over.faults[0]![0]);

    const before = await opened();
    before.host.expect(stream("a"));
    await before.driver.send(frame("a", 0, { payload: "1" }));
    expect(before.faults).toMatchObject([[{ code: "malformed" }, "channel"]]);
  });

  test.each([
    ["a gap", [frame("a", 1)]],
    ["a repeat", [frame("a", 0), frame("a", 0)]],
    ["a frame after the final one", [frame("a", 0, { final: true }), frame("a", 1)]],
    ["a frame after an abort", [abort("a"), frame("a", 0)]],
    ["an invocation never sent", [frame(stream("a", OTHER), 0)]],
    ["an abort for an invocation never sent", [abort(stream("a", OTHER))]],
    ["a credit for an invocation never sent", [credit(stream("a", OTHER), 1)]],
    ["another attempt", [frame(stream("a", { ...RUN, attempt_id: OTHER.attempt_id }), 0)]],
  ])("breaks the channel for %s", async (_, blocks) => {
    const { host, driver, faults } = await opened();
    const incoming = host.expect(stream("a"));
    const other = host.expect(stream("b"));
    await driver.send(...blocks);
    expect(faults).toMatchObject([[{ code: "malformed", name: "CompanionFault" }, "channel"]]);
    await expect(other.data.getReader().read()).rejects.toBe(faults[0]![0]);
    await incoming.ended;
  });

  test("keeps an end that comes before the announcement, and refuses a second announcement", async () => {
    const { host, driver } = await opened();
    await driver.send(frame("a", 0), frame("a", 1, { final: true }), abort("b", "disk"));
    expect(host.heldEarly).toBe(true);
    const first = host.expect(stream("a"));
    expect(first.outcome).toMatchObject({ end: "final", length: 0, order: 1 });
    expect((await first.data.getReader().read()).done).toBe(true);
    const second = host.expect(stream("b"));
    expect(host.heldEarly).toBe(false);
    await expect(second.data.getReader().read()).rejects.toMatchObject({ code: "stream_aborted" });
    expect(await second.ended).toMatchObject({ end: "abort", order: 2 });
    for (const id of ["a", "b"]) {
      expect(() => host.expect(stream(id))).toThrow(
        expect.objectContaining({ class: "malformed_observation" }) as Error,
      );
    }
    host.expect(stream("c"));
    expect(() => host.expect(stream("c"))).toThrow(/Two observations/);
  });

  test("faults the session when too many ends come unannounced", async () => {
    const { driver, faults } = await opened({ rememberedEnds: 3 });
    await driver.send(...["a", "b", "c"].map((id) => abort(id)));
    expect(faults).toEqual([]);
    await driver.send(abort("d"));
    expect(faults).toMatchObject([[{ code: "early_data", data: { streams: 4 } }, "session"]]);
  });

  test("delivers what came before an abort, then its reason", async () => {
    const { host, driver } = await opened();
    const incoming = host.expect(stream("a"));
    const reader = incoming.data.getReader();
    const first = reader.read();
    await settle();
    await driver.send(
      frame("a", 0, { payload: "x" }),
      frame("a", 1, { payload: "y" }),
      abort("a", "disk full"),
    );
    expect(text((await first).value)).toBe("x");
    expect(text((await reader.read()).value)).toBe("y");
    await expect(reader.read()).rejects.toThrow(/"a" was aborted by its sender: "disk full"/);
    expect(incoming.data.digest).toBeUndefined();
    expect(await incoming.ended).toMatchObject({ end: "abort", length: 2 });
  });

  test("discard() stops the sender and rejects every read with the reason given", async () => {
    const { host, driver } = await opened();
    const untaken = host.expect(stream("a"));
    untaken.discard(reason);
    expect(await driver.take()).toEqual([stop("a")]);
    const rejected = untaken.data.getReader();
    for (let k = 0; k < 2; k += 1) await expect(rejected.read()).rejects.toBe(reason);
    const taken = host.expect(stream("b"));
    const reader = taken.data.getReader();
    const pending = [reader.read(), reader.read()];
    await driver.send(frame("b", 0, { payload: "x" }), frame("b", 1, { payload: "y" }));
    await Promise.all(pending);
    await driver.send(frame("b", 2, { payload: "z" }));
    taken.discard(reason);
    await expect(reader.read()).rejects.toBe(reason);
    expect(host.held.bytes).toBe(0);
    // What was under way still counts, also in the digest, until the sender ends the stream.
    await driver.send(frame("b", 3, { payload: "!" }), frame("b", 4, { final: true }));
    expect(await taken.ended).toMatchObject({
      end: "final",
      length: 4,
      sha256: sha256Digest("xyz!").slice(7),
    });
    expect(host.openStreams).toEqual([untaken]);
    await driver.send(abort("a"));
    expect(host.openStreams).toEqual([]);
  });

  test("discard() of a stream that has ended drops what it holds and tells nobody", async () => {
    const { host, driver } = await opened();
    const incoming = host.expect(stream("a"));
    const reader = incoming.data.getReader();
    const first = reader.read();
    await settle();
    await driver.take();
    await driver.send(
      frame("a", 0, { payload: "x" }),
      frame("a", 1, { payload: "y" }),
      frame("a", 2, { final: true }),
    );
    await first;
    incoming.discard(reason);
    await expect(reader.read()).rejects.toBe(reason);
    expect(await driver.take()).toEqual([]);
  });

  test("a consumer that cancels stops that stream only", async () => {
    const { host, driver } = await opened();
    const left = host.expect(stream("a"));
    const right = host.expect(stream("b"));
    const reader = right.data.getReader();
    const read = reader.read();
    await settle();
    await left.data.cancel("enough");
    expect(left.taken).toBe(true);
    expect(await driver.take()).toEqual([credit("b", 262_144), stop("a")]);
    await driver.send(frame("b", 0, { payload: "x" }));
    expect(text((await read).value)).toBe("x");
  });

  test("one stream never read costs the others nothing", async () => {
    const { host, driver } = await opened({ companionWindow: 8 });
    host.expect(stream("never"));
    const stuck = host.expect(stream("stuck")).data.getReader();
    void stuck.read();
    await settle();
    await driver.send(
      frame("stuck", 0, { payload: "x" }),
      frame("stuck", 1, { payload: "1234567" }),
    );
    const reader = host.expect(stream("b")).data.getReader();
    for (let k = 0; k < 100; k += 1) {
      const read = reader.read();
      await new Promise((resolve) => setTimeout(resolve, 0));
      await driver.send(frame("b", k, { payload: "12345678" }));
      expect((await read).value!.length).toBe(8);
    }
    expect(host.held.bytes).toBe(7);
  });

  test("takes 256 KiB in frames of one byte, and holds them at little more than their size", async () => {
    const { host, driver, faults } = await opened();
    const incoming = host.expect(stream("a"));
    const reader = incoming.data.getReader();
    const first = reader.read();
    await settle();
    const total = 256 * 1024;
    for (let at = 0; at < total; at += 4096) {
      const frames = Array.from({ length: 4096 }, (_, k) =>
        frame("a", at + k, { payload: new Uint8Array([at + k]) }),
      );
      await driver.send(...frames);
      expect(host.held.cost).toBeLessThanOrEqual(2 * 256 * 1024);
    }
    expect(host.held.bytes).toBe(total - 1);
    await driver.send(frame("a", total, { final: true }));
    const bytes = [...(await first).value!];
    let chunks = 0;
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      bytes.push(...read.value);
      chunks += 1;
    }
    expect(chunks).toBeLessThan(10);
    expect(bytes.every((byte, k) => byte === (k & 0xff))).toBe(true);
    expect(await incoming.ended).toMatchObject({ end: "final", length: total });
    expect(faults).toEqual([]);
  }, 30_000);

  test("makes no digests when told so", async () => {
    const { host, driver } = await opened({ sha256: false });
    const incoming = host.expect(stream("a"));
    await driver.send(frame("a", 0, { final: true }));
    expect(await incoming.ended).toMatchObject({ end: "final", sha256: undefined });
    expect(incoming.data.digest).toBeUndefined();
  });

  test("tells of progress and of changes of a stream", async () => {
    let progress = 0;
    const { host, driver } = await opened({ onProgress: () => (progress += 1) });
    let changes = 0;
    const incoming = host.expect(stream("a"), () => (changes += 1));
    const reader = incoming.data.getReader();
    const read = reader.read();
    await settle();
    expect([progress > 0, changes > 0]).toEqual([true, true]);
    progress = changes = 0;
    await driver.send(frame("a", 0, { payload: "x" }));
    await read;
    expect(progress).toBeGreaterThan(0);
    await driver.send(frame("a", 1, { final: true }));
    expect(changes).toBeGreaterThan(0);
  });

  test("fail() gives a stream up: what is held is delivered, then the fault; the rest is late", async () => {
    const { host, driver, faults } = await opened({ lateBytes: 1500 });
    const incoming = host.expect(stream("a"));
    const reader = incoming.data.getReader();
    const first = reader.read();
    await settle();
    await driver.send(frame("a", 0, { payload: "x" }), frame("a", 1, { payload: "y" }));
    await first;
    host.endInvocation(RUN);
    const fault = new SluiceError("incomplete", "Too slow");
    incoming.fail(fault);
    expect(text((await reader.read()).value)).toBe("y");
    await expect(reader.read()).rejects.toBe(fault);
    expect(await incoming.ended).toMatchObject({ end: "fault", fault });
    expect(await driver.take()).toEqual([credit("a", 262_144), stop("a")]);
    for (let k = 2; k < 6; k += 1) await driver.send(frame("a", k, { payload: "z" }));
    expect(faults).toEqual([]);
    await driver.send(frame("a", 6, { payload: new Uint8Array(1000) }));
    expect(faults).toMatchObject([[{ code: "late_data" }, "session"]]);
  });

  test("endInvocation() drops what was never announced and lets announced streams end", async () => {
    const { host, driver, faults } = await opened();
    const incoming = host.expect(stream("a"));
    const read = incoming.data.getReader().read();
    await driver.send(frame("early", 0));
    await driver.take();
    host.endInvocation(RUN);
    expect(host.heldEarly).toBe(false);
    expect(await driver.take()).toEqual([stop("early")]);
    await driver.send(
      abort("early"),
      frame("new", 0),
      frame("a", 0, { payload: "x", final: true }),
    );
    expect(text((await read).value)).toBe("x");
    expect(await incoming.ended).toMatchObject({ end: "final" });
    expect(faults).toEqual([]);
  });

  test("the end of the channel in the midst of a block truncates open streams, and is a fault that says so", async () => {
    const { host, driver, faults } = await opened();
    const incoming = host.expect(stream("a"));
    const read = incoming.data.getReader().read();
    read.catch(() => {});
    await settle();
    await driver.raw(Uint8Array.of(200, 1, 0x7b));
    await driver.end();
    await expect(read).rejects.toMatchObject({
      code: "truncated",
      cause: { code: "malformed", data: { cut: true } },
    });
    expect(faults.map(([{ code, data }]) => [code, data["cut"]])).toEqual([["malformed", true]]);
  });

  test("the end of the channel truncates open streams and makes new ones unavailable", async () => {
    const { host, driver, faults } = await opened();
    const incoming = host.expect(stream("a"));
    const reader = incoming.data.getReader();
    const first = reader.read();
    await settle();
    await driver.send(
      frame("a", 0, { payload: "x" }),
      frame("a", 1, { payload: "y" }),
      frame("e", 0, { final: true }),
    );
    await first;
    await driver.end();
    expect(text((await reader.read()).value)).toBe("y");
    await expect(reader.read()).rejects.toMatchObject({ code: "truncated", data: stream("a") });
    expect(await incoming.ended).toMatchObject({ end: "fault", fault: { code: "truncated" } });
    expect(await host.ended).toBeUndefined();
    expect(faults).toEqual([]);
    expect((await host.expect(stream("e")).data.getReader().read()).done).toBe(true);
    const late = host.expect(stream("b"));
    await expect(late.data.getReader().read()).rejects.toMatchObject({ code: "unavailable" });
    expect(host.reading).toBe(false);
  });

  test("the end of the channel inside a block is malformed", async () => {
    const { driver, faults } = await opened();
    await driver.raw(new Uint8Array([5, 123]));
    await driver.end();
    expect(faults).toMatchObject([[{ code: "malformed" }, "channel"]]);
  });

  test("close() truncates what is open", async () => {
    const { host, driver } = await opened();
    const incoming = host.expect(stream("a"));
    const input = host.sendInput(stream("in"), new Uint8Array(5));
    host.close();
    expect(await incoming.ended).toMatchObject({ fault: { code: "truncated" } });
    await expect(input.ended).rejects.toMatchObject({ code: "truncated" });
    await settle();
    expect(driver.ended).toBe(true);
    host.close();
  });
});

describe("CompanionHost: inputs", () => {
  test("sends nothing before credit, never beyond it, and a final frame", async () => {
    const { host, driver } = await opened();
    const input = host.sendInput(stream("in"), new TextEncoder().encode("hello world"));
    expect(await driver.take()).toEqual([]);
    await driver.send(credit("in", 3));
    expect(await driver.take()).toEqual([frame("in", 0, { payload: "hel" })]);
    await driver.send(credit("in", 1), credit("in", 100));
    expect(await driver.take()).toEqual([
      frame("in", 1, { payload: "l" }),
      frame("in", 2, { payload: "o world", final: true }),
    ]);
    expect(await input.ended).toEqual({
      end: "final",
      length: 11,
      sha256: sha256Digest("hello world").slice(7),
      order: 1,
      fault: undefined,
    });
    // Nothing more concerns it.
    await driver.send(credit("in", 1), stop("in"));
    expect(await driver.take()).toEqual([]);
  });

  test("an empty input needs no credit", async () => {
    const { host, driver } = await opened();
    host.sendInput(stream("in"), new Uint8Array(0));
    expect(await driver.take()).toEqual([frame("in", 0, { final: true })]);
  });

  test("frames are at most what the driver takes", async () => {
    const [here, there] = duplexPair();
    const host = new CompanionHost(here);
    const driver = new ScriptedEnd(there);
    await driver.send(hello({ max_frame_bytes: 4 }));
    await driver.take();
    host.startInvocation(RUN);
    host.sendInput(stream("in"), new TextEncoder().encode("123456789"));
    await driver.send(credit("in", 100));
    const blocks = await driver.take();
    expect(blocks.map((block) => "payload" in block && text(block.payload))).toEqual([
      "1234",
      "5678",
      "9",
    ]);
  });

  test("a source that fails aborts its stream, with a bounded reason", async () => {
    const { host, driver } = await opened();
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode("ab");
      throw new Error("é".repeat(400));
    }
    const input = host.sendInput(stream("in"), failing());
    await driver.send(credit("in", 100));
    expect(await driver.take()).toEqual([
      frame("in", 0, { payload: "ab" }),
      abort("in", "é".repeat(256)),
    ]);
    expect(await input.ended).toMatchObject({
      end: "abort",
      length: 2,
      fault: { code: "stream_aborted" },
    });
  });

  test("stop ends a stream although its source hangs, and releases the source", async () => {
    const { host, driver } = await opened();
    let cancelled: unknown;
    const source = new ReadableStream<Uint8Array>(
      { pull: () => new Promise(() => {}), cancel: (why) => void (cancelled = why) },
      { highWaterMark: 0 },
    );
    const input = host.sendInput(stream("in"), source);
    await driver.send(credit("in", 100));
    await driver.send(stop("in"));
    expect(await driver.take()).toMatchObject([{ type: "abort", ...stream("in") }]);
    expect(await input.ended).toMatchObject({
      end: "abort",
      length: 0,
      fault: { code: "stream_stopped" },
    });
    expect(cancelled).toMatchObject({ code: "stream_stopped" });
  });

  test("abort() releases an iterable that was never started, and acts once", async () => {
    const { host, driver } = await opened();
    let returned = 0;
    const source: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error("not asked for")),
        return: () => {
          returned += 1;
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
    const input = host.sendInput(stream("in"), source);
    input.abort(new SluiceError("run_stopped", "Over"));
    input.abort(new SluiceError("run_stopped", "Again"));
    expect(await driver.take()).toEqual([abort("in", "Over")]);
    expect(returned).toBe(1);
    expect(await input.ended).toMatchObject({ end: "abort", fault: { message: "Over" } });
  });

  test("lack of credit on one stream holds back neither another nor a control block", async () => {
    const { host, driver } = await opened();
    host.sendInput(stream("stuck"), new Uint8Array(1000));
    await driver.send(credit("stuck", 1));
    host.sendInput(stream("b"), new TextEncoder().encode("ok"));
    host.expect(stream("c")).discard(reason);
    await driver.send(credit("b", 10));
    expect(await driver.take()).toEqual([
      frame("stuck", 0, { payload: new Uint8Array(1) }),
      stop("c"),
      frame("b", 0, { payload: "ok", final: true }),
    ]);
  });

  test("a driver with credit that ends its half stops all inputs", async () => {
    const { host, driver } = await opened();
    const input = host.sendInput(stream("in"), new Uint8Array(1000));
    await driver.send(credit("in", 1));
    await driver.end();
    expect(await driver.take()).toMatchObject([{ payload: { length: 1 } }, { type: "abort" }]);
    expect(await input.ended).toMatchObject({
      end: "abort",
      length: 1,
      fault: { code: "stream_stopped" },
    });
    expect(host.takesInput).toBe(false);
    expect(() => host.sendInput(stream("x"), new Uint8Array(1))).toThrow(
      expect.objectContaining({ code: "input_undeliverable" }) as Error,
    );
  });

  test("halfClose() aborts inputs and stops what it can no longer grant; reading goes on", async () => {
    const { host, driver } = await opened();
    const input = host.sendInput(stream("in"), new Uint8Array(1000));
    const incoming = host.expect(stream("a"));
    const read = quiet(incoming.data.getReader().read());
    await driver.take();
    await host.halfClose();
    expect(await driver.take()).toMatchObject([{ type: "abort" }, { type: "stop" }]);
    expect(driver.ended).toBe(true);
    expect(await input.ended).toMatchObject({ end: "abort" });
    await expect(read).rejects.toMatchObject({ code: "stream_stopped" });
    await driver.send(frame("a", 0, { payload: "x" }), frame("a", 1, { final: true }));
    expect(await incoming.ended).toMatchObject({ end: "final", length: 1 });
    await driver.end();
    expect(await host.ended).toBeUndefined();
  });

  test("refuses names it cannot send", async () => {
    const { host } = await opened();
    expect(() => host.sendInput(stream("none"), new Uint8Array(1))).toThrow(RangeError);
    expect(() => host.sendInput(stream(""), new Uint8Array(1))).toThrow(RangeError);
    expect(() => host.sendInput(stream("é".repeat(129)), new Uint8Array(1))).toThrow(RangeError);
    host.sendInput(stream("é".repeat(128)), new Uint8Array(1));
    expect(() => host.sendInput(stream("é".repeat(128)), new Uint8Array(1))).toThrow(TypeError);
    const locked = new ReadableStream<Uint8Array>();
    locked.getReader();
    expect(() => host.sendInput(stream("locked"), locked)).toThrow(TypeError);
  });

  test("ends the channel when the driver takes no control blocks", async () => {
    const [here, there] = duplexPair({ highWaterMark: 1 });
    const faults: [CompanionFault, string][] = [];
    const host = new CompanionHost(here, {
      writeQueueBytes: 2000,
      onFault: (fault, scope) => void faults.push([fault, scope]),
    });
    const writer = there.writable.getWriter();
    const { encodeBlocks } = await import("./support/blocks.ts");
    void writer.write(encodeBlocks([hello()])).catch(() => {});
    await host.ready;
    host.startInvocation(RUN);
    for (let k = 0; k < 20; k += 1) host.expect(stream(`s${k}`)).discard(reason);
    expect(faults).toMatchObject([[{ code: "channel_stalled" }, "channel"]]);
  });
});

describe("unavailableStream()", () => {
  test("has ended, and rejects every read", async () => {
    const none = unavailableStream(stream("a"));
    expect(await none.ended).toMatchObject({ end: "fault", length: 0 });
    await expect(none.data.getReader().read()).rejects.toMatchObject({
      code: "unavailable",
      name: "CompanionFault",
      data: stream("a"),
    });
  });
});

describe("companionHandle()", () => {
  test("names a stream or no input, and streamOfHandle() reads it", () => {
    expect(companionHandle("x:y")).toEqual({ kind: "pipe", value: "companion:x:y" });
    expect(companionHandle()).toEqual({ kind: "pipe", value: "companion:none" });
    expect(streamOfHandle(companionHandle("x:y"))).toBe("x:y");
    expect(streamOfHandle(companionHandle())).toBeNull();
    expect(streamOfHandle({ kind: "pipe", value: "/dev/null" })).toBeUndefined();
    expect(streamOfHandle({ kind: "socket", value: "companion:x" })).toBeUndefined();
  });
});
