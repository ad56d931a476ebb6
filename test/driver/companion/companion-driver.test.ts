import { describe, expect, test } from "vitest";
import { CompanionDriver, type CompanionFault } from "../../../lib/driver/companion/mod.ts";
import { duplexPair } from "../../../lib/streams/mod.ts";
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

async function opened(): Promise<{
  readonly driver: CompanionDriver;
  readonly host: ScriptedEnd;
  readonly faults: [CompanionFault, string][];
}> {
  const [here, there] = duplexPair();
  const faults: [CompanionFault, string][] = [];
  const driver = new CompanionDriver(there, {
    onFault: (fault, scope) => void faults.push([fault, scope]),
    lateBytes: 300,
    rememberedEnds: 2,
  });
  const host = new ScriptedEnd(here);
  await host.send(hello());
  await driver.ready;
  await host.take();
  return { driver, host, faults };
}

describe("CompanionDriver", () => {
  test("says hello at once, with its token, and sends no stream before the host's hello", async () => {
    const [here, there] = duplexPair();
    const driver = new CompanionDriver(there, { token: "c0ffee", companionWindow: 9 });
    const host = new ScriptedEnd(here);
    driver.sendData(stream("empty"), new Uint8Array(0));
    void quiet(driver.input(stream("in")).data.getReader().read());
    expect(await host.take()).toEqual([hello({ token: "c0ffee", window: 9 })]);
    await host.send(hello());
    expect(await host.take()).toEqual([credit("in", 9), frame("empty", 0, { final: true })]);
  });

  test("refuses a host that gives no credit", async () => {
    const [here, there] = duplexPair();
    const driver = new CompanionDriver(there);
    await new ScriptedEnd(here).send(hello({ window: 0 }));
    await expect(driver.ready).rejects.toMatchObject({ code: "malformed" });
    expect(driver.sendData.bind(driver, stream("a"), new Uint8Array(1))).toThrow(
      expect.objectContaining({ code: "unavailable" }) as Error,
    );
  });

  test("reads nothing of a source before the host takes the stream", async () => {
    const { driver, host } = await opened();
    let asked = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      asked += 1;
      yield new TextEncoder().encode("abc");
    }
    const outgoing = driver.sendData(stream("a"), source());
    await settle();
    expect(asked).toBe(0);
    await host.send(credit("a", 3));
    // Read ahead by one, so that the end needs no further credit.
    expect(await host.take()).toEqual([
      frame("a", 0, { payload: "abc" }),
      frame("a", 1, { final: true }),
    ]);
    expect(await outgoing.ended).toMatchObject({ end: "final", length: 3 });
  });

  test("a stop before the stream was taken ends it without a byte", async () => {
    const { driver, host } = await opened();
    const outgoing = driver.sendData(stream("a"), new Uint8Array(5));
    await host.send(stop("a"));
    expect(await host.take()).toMatchObject([{ type: "abort", ...stream("a") }]);
    expect(await outgoing.ended).toMatchObject({
      end: "abort",
      length: 0,
      fault: { code: "stream_stopped" },
    });
  });

  test("streams with credit take turns, frame by frame, however much there is to send", async () => {
    const [here, there] = duplexPair({ highWaterMark: 1000 });
    const driver = new CompanionDriver(there);
    const host = new ScriptedEnd(here);
    await host.send(hello({ max_frame_bytes: 20_000 }));
    const ends = ["a", "b"].map((id) => driver.sendData(stream(id), new Uint8Array(500_000)).ended);
    await host.send(credit("a", 500_000), credit("b", 500_000));
    await Promise.all(ends);
    const order = (await host.take()).flatMap((block) =>
      "header" in block ? [block.header.stream_id] : [],
    );
    expect(order).toHaveLength(50);
    expect(order.slice(10, 40).join("")).toMatch(/^(ab)+$|^(ba)+$/);
  });

  test("input() gives what the host sends, with credit as it is read", async () => {
    const { driver, host } = await opened();
    const input = driver.input(stream("in"));
    expect(await host.take()).toEqual([]);
    const reader = input.data.getReader();
    const read = reader.read();
    expect(await host.take()).toEqual([credit("in", 262_144)]);
    await host.send(frame("in", 0, { payload: "x", final: true }));
    expect(text((await read).value)).toBe("x");
    expect((await reader.read()).done).toBe(true);
    expect(() => driver.input(stream("in"))).toThrow(TypeError);
  });

  test("input() finds an end that came first, of an invocation not heard of", async () => {
    const { driver, host } = await opened();
    await host.send(frame("empty", 0, { final: true }), abort("broken", "gone"));
    expect((await driver.input(stream("empty")).data.getReader().read()).done).toBe(true);
    await expect(driver.input(stream("broken")).data.getReader().read()).rejects.toThrow(/gone/);
  });

  test("forgets the oldest of too many ends that nobody asks for, and drops late ones without a fault", async () => {
    const { driver, host, faults } = await opened();
    await host.send(abort("1"), abort("2"), abort("3"));
    const input = driver.input(stream("1"));
    expect(input.outcome).toBeUndefined();
    driver.endInvocation(RUN);
    await host.send(abort("4"), abort("5"), abort("6"), abort("7"), abort("8"));
    expect(faults).toEqual([]);
  });

  test("endInvocation() stops inputs that are still open", async () => {
    const { driver, host, faults } = await opened();
    const input = driver.input(stream("in"));
    const read = quiet(input.data.getReader().read());
    await settle();
    driver.endInvocation(RUN);
    await expect(read).rejects.toMatchObject({ code: "invocation_ended" });
    expect(await host.take()).toEqual([credit("in", 262_144), stop("in")]);
    await host.send(abort("in"));
    expect(driver.openStreams).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("payload that no credit was given for breaks the channel", async () => {
    const { driver, host, faults } = await opened();
    const outgoing = driver.sendData(stream("a"), new Uint8Array(5));
    await host.send(frame("in", 0, { payload: "x" }));
    expect(faults).toMatchObject([[{ code: "malformed" }, "channel"]]);
    await expect(outgoing.ended).rejects.toMatchObject({ code: "truncated", cause: faults[0]![0] });
  });

  test("close() aborts what is open, flushes, and ends the channel", async () => {
    const { driver, host } = await opened();
    const outgoing = driver.sendData(stream("a"), new Uint8Array(5));
    await host.send(credit("a", 2));
    await driver.close();
    expect(await host.take()).toMatchObject([{ payload: { length: 2 } }, { type: "abort" }]);
    expect(host.ended).toBe(true);
    expect(await outgoing.ended).toMatchObject({ end: "abort", length: 2 });
    expect(() => driver.sendData(stream("b"), new Uint8Array(1))).toThrow(/ended/);
  });
});
