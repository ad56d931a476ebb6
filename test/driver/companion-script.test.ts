import { describe, expect, test } from "vitest";
import { sha256Digest } from "../../lib/json/mod.ts";
import { createSha256 } from "../../lib/json/digest.ts";
import { Summary } from "../../lib/driver/summary.ts";
import { concat } from "../../lib/bytes/concat.ts";
import type { Block } from "./companion/support/blocks.ts";
import { abort, credit, frame, hello, stop } from "./companion/support/scripted-end.ts";
import {
  all,
  announced,
  bytesOf,
  capable,
  opening,
  pattern,
  scripted,
  type Scripted,
  streamOf,
  SUMMED,
  textOf,
  within,
} from "./support/companion.ts";
import { errorOf, helloResult, type Ids, instanceId, observation } from "./support/frames.ts";
import { failureOf, invoked, settle, settled } from "./support/session.ts";

/** A frame of the stream of an invocation. */
function data(ids: Ids, id: string, sequence: number, payload: string | Uint8Array, final = true) {
  return frame(streamOf(ids, id), sequence, { payload, final });
}

/** Whether a block grants credit. */
const isCredit = (block: Block): boolean => !("header" in block) && block.type === "credit";

/** The session's end, by its code and that of its cause. */
async function endOf({ driver }: Scripted): Promise<readonly (string | undefined)[]> {
  const { reason } = await driver.ended;
  return [reason.code, (reason.cause as { code?: string } | undefined)?.code];
}

describe("the start", () => {
  test("with a channel that is required and not listed fails with capability_mismatch", async () => {
    const { starting, other } = opening({ policy: "required" });
    await other.answer("driver.hello", helloResult());
    expect(await failureOf(starting)).toMatchObject({ code: "capability_mismatch" });
  });

  test("with a channel that is listed and never opened fails with unavailable and the hint, in time", async () => {
    const { starting, other, clock } = opening({ startTimeout: 3000 });
    await other.expect("driver.hello");
    await settle();
    clock.advance(1000);
    await other.say({ id: 1, result: helloResult({ capabilities: capable() }) });
    expect(await settled(starting)).toBe(false);
    clock.advance(1999);
    expect(await settled(starting)).toBe(false);
    clock.advance(1);
    expect(await failureOf(starting)).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining('companionVia: "unix"'),
    });
  });

  test("ended by the driver while its channel is waited for leaves no timer", async () => {
    const { starting, other, clock } = opening();
    await other.answer("driver.hello", helloResult({ capabilities: capable() }));
    await settle();
    await other.hangUp();
    expect(await failureOf(starting)).toMatchObject({ code: "connection_closed" });
    await settle();
    expect(clock.pending).toBe(0);
  });

  test("with the wrong token fails", async () => {
    const { starting, other, data: channel } = opening({ token: "aa".repeat(16) });
    await channel.send(hello({ token: "bb".repeat(16) }));
    await other.answer("driver.hello", helloResult({ capabilities: capable() }));
    expect(await failureOf(starting)).toMatchObject({
      code: "unavailable",
      cause: { code: "wrong_token" },
    });
  });

  test("with the right token is answered before the control hello, and sends none back", async () => {
    const { starting, other, data: channel } = opening({ token: "aa".repeat(16) });
    await channel.send(hello({ token: "aa".repeat(16) }));
    const [answer] = await channel.take();
    expect(answer).toMatchObject({ type: "hello" });
    expect(answer).not.toHaveProperty("token");
    await other.answer("driver.hello", helloResult({ capabilities: capable() }));
    await starting;
  });

  test("of a driver that does not list the channel closes it, and its data is unavailable", async () => {
    const session = await scripted({ capabilities: { protocols: [] }, hello: null });
    const { other } = session;
    const { run, ids, id } = await invoked(session);
    await other.say(
      { id, result: {} },
      announced(ids, 1, "a"),
      announced(ids, 2, "a"),
      observation(ids, 3),
    );
    other.complete(ids, 3);
    const seen: string[] = [];
    for await (const { kind, data: bytes } of run) {
      seen.push(kind);
      if (bytes !== undefined)
        expect(await failureOf(bytes.getReader().read())).toMatchObject({ code: "unavailable" });
    }
    expect(seen).toEqual(["k", "k", "k"]);
    expect(await run.completed).toMatchObject({ status: "completed" });
  });
});

describe("a stream of a driver with credit", () => {
  test("gets credit when it is taken, not before; more as it is read", async () => {
    const session = await scripted({ companionWindow: 1000 });
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const { data: bytes } = (await steps.next()).value!;
    expect(await channel.take()).toEqual([]);
    const reader = bytes!.getReader();
    expect(await channel.take()).toEqual([]);
    const read = reader.read();
    expect(await channel.take()).toEqual([credit(streamOf(ids, "a"), 1000)]);
    await channel.send(data(ids, "a", 0, pattern(700), false));
    expect((await read).value).toEqual(pattern(700));
    const next = reader.read();
    expect(await channel.take()).toEqual([credit(streamOf(ids, "a"), 700)]);
    await channel.send(data(ids, "a", 1, pattern(10)));
    expect((await next).value).toEqual(pattern(10));
    expect(await reader.read()).toMatchObject({ done: true });
    expect(bytes!.digest).toBe(sha256Digest(concat([pattern(700), pattern(10)])));
    other.complete(ids, 1);
    await run.completed;
  });

  test("whose 200 KiB are overtaken by completed arrives whole", async () => {
    const session = await scripted();
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const { data: bytes } = (await steps.next()).value!;
    const reading = bytesOf(bytes);
    await settle();
    other.complete(ids, 1);
    expect(await settled(run.completed)).toBe(false);
    expect(session.driver.state).toBe("PREPARED");
    const content = pattern(200 * 1024);
    for (let at = 0; at < 200; at += 1)
      await channel.send(
        data(ids, "a", at, content.subarray(at * 1024, (at + 1) * 1024), at === 199),
      );
    expect(await reading).toEqual(content);
    expect(await run.completed).toMatchObject({ status: "completed" });
    expect(await steps.next()).toMatchObject({ done: true });
  });

  test("of 256 KiB in one-byte frames arrives whole", async () => {
    const session = await scripted();
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const { data: bytes } = (await steps.next()).value!;
    const reading = bytesOf(bytes);
    const content = pattern(256 * 1024);
    for (let at = 0; at < content.length; at += 4096)
      await channel.send(
        ...Array.from({ length: 4096 }, (_, k) =>
          data(
            ids,
            "a",
            at + k,
            content.subarray(at + k, at + k + 1),
            at + k + 1 === content.length,
          ),
        ),
      );
    expect(await reading).toEqual(content);
    other.complete(ids, 1);
    await run.completed;
  }, 20_000);

  test("of a driver that answers driver.invoke last arrives all the same", async () => {
    const session = await scripted();
    const { other, data: channel } = session;
    const { run, ids, id } = await invoked(session);
    void other.say(observation(ids, 1), announced(ids, 2, "a"), observation(ids, 3));
    const loop = all(run);
    await settle();
    await channel.send(data(ids, "a", 0, "abc"));
    other.complete(ids, 3);
    expect(await loop).toEqual(["k", "abc", "k"]);
    await run.completed;
    expect(await settled(run.accepted)).toBe(false);
    void other.say({ id, result: {} });
    expect(await run.accepted).toEqual({});
  });

  test("whose empty data overtakes its observation has ended when it is announced", async () => {
    const session = await scripted();
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    await channel.send(data(ids, "a", 0, ""), abort(streamOf(ids, "b"), "no disk"));
    void other.say(announced(ids, 1, "a"), announced(ids, 2, "b"));
    other.complete(ids, 2);
    const steps = run[Symbol.asyncIterator]();
    expect(await textOf((await steps.next()).value!.data)).toBe("");
    expect(await failureOf(bytesOf((await steps.next()).value!.data))).toMatchObject({
      code: "stream_aborted",
      message: expect.stringContaining("no disk"),
    });
    expect(await steps.next()).toMatchObject({ done: true });
    await run.completed;
  });

  test("that does not end within dataTimeout makes the completion incomplete", async () => {
    const session = await scripted({ dataTimeout: 5000 });
    const { other, clock, data: channel } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const reader = (await steps.next()).value!.data!.getReader();
    const read = reader.read();
    await channel.send(data(ids, "a", 0, "abc", false));
    other.complete(ids, 1, { status: "errored" });
    await settle();
    clock.advance(4999);
    expect(await settled(run.completed)).toBe(false);
    clock.advance(1);
    expect(await run.completed).toMatchObject({
      status: "errored",
      incomplete: { code: "incomplete", data: { stream_id: "a" } },
    });
    expect((await read).value).toHaveLength(3);
    expect(await failureOf(reader.read())).toMatchObject({ code: "incomplete" });
    // What still comes of it is dropped.
    await channel.send(data(ids, "a", 1, "def"));
    expect(session.driver.state).toBe("PREPARED");
  });

  test("never announced is dropped at the completion, late frames too, up to the budget", async () => {
    const session = await scripted({ lateBytes: 2000 });
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    await channel.send(data(ids, "x", 0, "", true));
    other.complete(ids);
    await run.completed;
    for (const n of [0, 1, 2, 3]) await channel.send(data(ids, `y${n}`, 0, pattern(200)));
    expect(session.driver.state).toBe("PREPARED");
    for (const n of [4, 5, 6]) await channel.send(data(ids, `y${n}`, 0, pattern(200)));
    expect(await endOf(session)).toEqual(["late_data", undefined]);
  });

  test("that is discarded gets a stop, and its frames under way are dropped", async () => {
    const session = await scripted();
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"), observation(ids, 2));
    const steps = run[Symbol.asyncIterator]();
    const { data: bytes } = (await steps.next()).value!;
    await steps.next();
    expect(await channel.take()).toEqual([stop(streamOf(ids, "a"))]);
    await channel.send(abort(streamOf(ids, "a"), "stopped"));
    expect(await failureOf(bytesOf(bytes))).toMatchObject({ code: "data_discarded" });
    other.complete(ids, 2);
    await run.completed;
  });

  test("that is taken, full and unread while somebody waits is given up after stallTimeout; the run goes on", async () => {
    const session = await scripted({ companionWindow: 100, stallTimeout: 2000 });
    const { other, data: channel, clock } = session;
    const { run, ids, id } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const reader = (await steps.next()).value!.data!.getReader();
    const first = reader.read();
    await channel.send(data(ids, "a", 0, pattern(50), false));
    await first;
    await channel.send(data(ids, "a", 1, pattern(50), false));
    await channel.take();
    // Full and unread, but nobody waits.
    clock.advance(60_000);
    await settle();
    expect(await channel.take()).toEqual([]);
    const next = steps.next();
    await settle();
    clock.advance(1500);
    // A frame on the other plane begins the time anew.
    void other.say({ id, result: {} });
    await settle();
    clock.advance(1999);
    expect(await channel.take()).toEqual([]);
    clock.advance(1);
    expect(await channel.take()).toEqual([stop(streamOf(ids, "a"))]);
    expect(await failureOf(reader.read())).toMatchObject({
      code: "consumer_stalled",
      message: expect.stringContaining("the next observation"),
    });
    await channel.send(abort(streamOf(ids, "a"), "stopped"));
    void other.say(observation(ids, 2));
    expect((await next).value).toMatchObject({ sequence: 2 });
    other.complete(ids, 2);
    expect(await steps.next()).toMatchObject({ done: true });
    await run.completed;
  });
});

describe("the session ends when the driver", () => {
  const FAULTS: readonly (readonly [string, (ids: Ids) => readonly Block[], string])[] = [
    ["sends payload over the credit", (ids) => [data(ids, "a", 0, pattern(2000))], "malformed"],
    [
      "leaves a gap in the sequence",
      (ids) => [data(ids, "a", 0, "", false), data(ids, "a", 2, "")],
      "malformed",
    ],
    [
      "repeats a sequence",
      (ids) => [data(ids, "a", 0, "", false), data(ids, "a", 0, "")],
      "malformed",
    ],
    [
      "goes on after the final frame",
      (ids) => [data(ids, "a", 0, ""), data(ids, "a", 1, "")],
      "malformed",
    ],
    [
      "names an invocation that was never sent",
      () => [data({ invocation_id: instanceId(77), attempt_id: instanceId(78) }, "a", 0, "", true)],
      "malformed",
    ],
    ["says hello again", () => [hello()], "malformed"],
  ];

  test.each(FAULTS)("%s", async (_, blocks, code) => {
    const session = await scripted({ companionWindow: 1000 });
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const reading = bytesOf((await steps.next()).value!.data).catch((error: unknown) => error);
    await settle();
    await channel.send(...blocks(ids));
    expect((await endOf(session))[0]).toBe(code);
    expect(await failureOf(run.completed)).toMatchObject({ code });
    // A stream that had ended before the fault came whole.
    const whole = blocks(ids).some((block) => "header" in block && block.header.sequence === 1);
    if (whole) expect(await reading).toEqual(new Uint8Array(0));
    else expect(await reading).toMatchObject({ code });
  });

  test("sends a frame larger than agreed", async () => {
    const session = await scripted({ dataFrameBytes: 1000 });
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const reading = failureOf(bytesOf((await steps.next()).value!.data));
    await settle();
    await channel.send(data(ids, "a", 0, pattern(1001)));
    expect(await endOf(session)).toEqual(["malformed", undefined]);
    expect(await reading).toMatchObject({ code: "malformed" });
    expect(await failureOf(run.completed)).toMatchObject({ code: "malformed" });
  });

  test("names one stream in two observations", async () => {
    const session = await scripted();
    const { run, ids } = await invoked(session);
    void session.other.say(announced(ids, 1, "a"), announced(ids, 2, "a"));
    expect(await failureOf(run.completed)).toMatchObject({
      code: "protocol_fault",
      class: "malformed_observation",
    });
  });

  test("begins more streams than are remembered without announcing them", async () => {
    const session = await scripted({ rememberedEnds: 8 });
    const { run, ids } = await invoked(session);
    const blocks = Array.from({ length: 9 }, (_, k) => data(ids, `s${k}`, 0, ""));
    await session.data.send(...blocks);
    expect(await endOf(session)).toEqual(["early_data", undefined]);
    expect(await failureOf(run.completed)).toMatchObject({ code: "early_data" });
  });
});

describe("onCompanionFault: detach", () => {
  test("goes on without the channel: open streams fail, new ones are unavailable, new input undeliverable", async () => {
    const session = await scripted({ onCompanionFault: "detach", companionWindow: 10 });
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const reading = failureOf(bytesOf((await steps.next()).value!.data));
    await settle();
    await channel.send(data(ids, "a", 0, pattern(11)));
    expect(await reading).toMatchObject({ code: "malformed" });
    void other.say(announced(ids, 2, "b"));
    expect(await failureOf(bytesOf((await steps.next()).value!.data))).toMatchObject({
      code: "unavailable",
    });
    other.complete(ids, 2);
    expect(await steps.next()).toMatchObject({ done: true });
    expect(await run.completed).toMatchObject({ status: "completed" });
    const refused = session.driver.invoke("op", { input: pattern(10) });
    expect(await failureOf(refused.completed)).toMatchObject({ code: "input_undeliverable" });
    const next = await invoked(session);
    other.complete(next.ids);
    await next.run.completed;
  });

  test("does not save a session from data over a budget", async () => {
    const session = await scripted({ onCompanionFault: "detach", rememberedEnds: 1 });
    const { ids } = await invoked(session);
    await session.data.send(data(ids, "a", 0, ""), data(ids, "b", 0, ""));
    expect(await endOf(session)).toEqual(["early_data", undefined]);
  });
});

describe("the summary digest over streams", () => {
  /** What the driver should say about two streams, in the order of their ends. */
  function digestOf(...ends: readonly ("a" | "b")[]): string {
    const summary = new Summary();
    summary.observe({ kind: "k", sequence: 1, stream: "a" });
    summary.observe({ kind: "k", sequence: 2, stream: "b" });
    for (const id of ends) {
      const sha256 = createSha256()
        .update(id === "a" ? "AAA" : "")
        .digestHex();
      if (id === "a") summary.streamEnded({ end: "final", id, length: 3, sha256 });
      else summary.streamEnded({ end: "abort", id, length: 0, sha256 });
    }
    return summary.digest();
  }

  async function run(summary_digest: string, options: object = {}, streams = true) {
    const session = await scripted({ capabilities: SUMMED, ...options });
    const { other, data: channel, clock } = session;
    const { run: one, ids } = await invoked(session);
    const loop = all(one).catch(() => {});
    void other.say(announced(ids, 1, "a"));
    await settle();
    void other.say(announced(ids, 2, "b"));
    await settle();
    if (streams) await channel.send(abort(streamOf(ids, "b")), data(ids, "a", 0, "AAA"));
    other.complete(ids, 2, { summary_digest });
    await settle();
    if (!streams) clock.advance(10_000);
    await loop;
    return { session, one };
  }

  test("that matches in the order of the ends on the channel completes", async () => {
    const { one } = await run(digestOf("b", "a"));
    expect(await one.completed).toMatchObject({ status: "completed" });
  });

  test("that has another order ends the session with malformed_observation", async () => {
    const { session, one } = await run(digestOf("a", "b"));
    expect(await failureOf(one.completed)).toMatchObject({
      code: "protocol_fault",
      class: "malformed_observation",
    });
    expect(await endOf(session)).toEqual(["protocol_fault", "summary_mismatch"]);
  });

  test("is not checked with verifySummary: false, nor where a stream is incomplete", async () => {
    const unchecked = await run(digestOf("a", "b"), { verifySummary: false });
    expect(await unchecked.one.completed).toMatchObject({ status: "completed" });
    const cut = await run(digestOf("a", "b"), {}, false);
    expect(await cut.one.completed).toMatchObject({ incomplete: { code: "incomplete" } });
  });

  test("is not checked where the channel ended before a stream", async () => {
    const session = await scripted({ capabilities: SUMMED });
    const { other, data: channel } = session;
    const { run: one, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const loop = failureOf(all(one));
    await settle();
    await channel.end();
    expect(await loop).toMatchObject({ code: "truncated" });
    other.complete(ids, 1);
    expect(await one.completed).toMatchObject({ status: "completed" });
  });
});

describe("the end of the channel", () => {
  test("by the driver's half-close truncates open streams, and the run goes on", async () => {
    const session = await scripted();
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const reader = (await steps.next()).value!.data!.getReader();
    const read = reader.read();
    await channel.send(data(ids, "a", 0, "abc", false));
    expect((await read).value).toHaveLength(3);
    await channel.end();
    expect(await failureOf(reader.read())).toMatchObject({ code: "truncated" });
    void other.say(announced(ids, 2, "b"));
    expect(await failureOf(bytesOf((await steps.next()).value!.data))).toMatchObject({
      code: "unavailable",
    });
    other.complete(ids, 2);
    await run.completed;
  });

  test("by the driver's half-close stops the input of a driver with credit", async () => {
    const session = await scripted();
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session, { input: pattern(5000) });
    await channel.send(credit(streamOf(ids, "input"), 1000));
    await channel.end();
    expect(await run.inputSent).toEqual({ end: "abort", length: 1000 });
    other.complete(ids);
    await run.completed;
  });

  test("by the session's end: what came stays readable, then truncated", async () => {
    const session = await scripted();
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const reader = (await steps.next()).value!.data!.getReader();
    const first = reader.read();
    await channel.send(data(ids, "a", 0, "abc", false));
    await first;
    await channel.send(data(ids, "a", 1, "def", false));
    await other.hangUp();
    await settle();
    await channel.send(data(ids, "a", 2, "ghi", false));
    session.clock.advance(500);
    await settle();
    expect(await failureOf(run.completed)).toMatchObject({ code: "connection_closed" });
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("defghi");
    expect(await failureOf(reader.read())).toMatchObject({ code: "truncated" });
    await session.driver.ended;
  });

  test("a completed run whose data is still on its way outlives the end of the control channel", async () => {
    const session = await scripted();
    const { other, data: channel } = session;
    const { run, ids, id } = await invoked(session);
    void other.say({ id, result: {} }, announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const reading = textOf((await steps.next()).value!.data);
    await settle();
    other.complete(ids, 1);
    await settle();
    await other.hangUp();
    await settle();
    await channel.send(data(ids, "a", 0, "all of it"));
    expect(await reading).toBe("all of it");
    expect(await run.completed).toMatchObject({ status: "completed" });
    expect((await session.driver.ended).reason.code).toBe("connection_closed");
  });
});

describe("close()", () => {
  test("with a completed run whose data is still open keeps its terminal status", async () => {
    const session = await scripted();
    const { other, driver } = session;
    const { run, ids, id } = await invoked(session);
    void other.say({ id, result: {} }, announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const reading = failureOf(bytesOf((await steps.next()).value!.data));
    other.complete(ids, 1);
    await settle();
    const closing = driver.close();
    await other.answer("driver.shutdown", {});
    await other.hangUp();
    expect(await reading).toMatchObject({ code: "session_closed" });
    const end = await within(session.clock, closing, { most: 5000 });
    expect(end.reason.code).toBe("session_closed");
    expect(await run.completed).toMatchObject({
      status: "completed",
      cancelled: { code: "session_closed" },
    });
  });

  test("half-closes the channel, and reads both planes until they end", async () => {
    const session = await scripted();
    const { other, driver, data: channel } = session;
    const closing = driver.close();
    await other.answer("driver.shutdown", {});
    await settle();
    expect(channel.ended).toBe(true);
    expect(await settled(closing)).toBe(false);
    await channel.send();
    await other.hangUp();
    expect((await closing).reason.code).toBe("session_closed");
  });
});

describe("a cancelled run", () => {
  test("aborts its input before it asks the driver, which may have completed meanwhile", async () => {
    const session = await scripted();
    const { other, data: channel } = session;
    const { run, ids, id } = await invoked(session, { input: pattern(5000) });
    void other.say({ id, result: {} });
    await channel.send(credit(streamOf(ids, "input"), 100));
    await channel.take();
    run.cancel();
    expect(await channel.take()).toMatchObject([{ type: "abort", stream_id: "input" }]);
    const cancel = await other.expect("driver.cancel");
    // The two cross: the driver had completed before it read the cancel.
    other.complete(ids);
    expect(await run.completed).toMatchObject({
      status: "completed",
      cancelled: { code: "aborted" },
    });
    void other.say({ id: cancel.id, error: errorOf("invalid_state") });
    const next = await invoked(session);
    other.complete(next.ids);
    await next.run.completed;
  });

  test("drops the data that still comes, whether announced or not", async () => {
    const session = await scripted();
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const reading = failureOf(bytesOf((await steps.next()).value!.data));
    await settle();
    await channel.send(data(ids, "a", 0, "abc", false));
    run.cancel();
    await other.expect("driver.cancel");
    expect(await reading).toMatchObject({ code: "aborted" });
    await channel.send(data(ids, "a", 1, "def"));
    void other.say(announced(ids, 2, "b"), announced(ids, 3, "c"));
    await settle();
    await channel.send(data(ids, "b", 0, ""), abort(streamOf(ids, "c")));
    other.complete(ids, 3, { status: "cancelled" });
    expect(await run.completed).toMatchObject({ status: "cancelled" });
  });
});

test("nothing but credit and stop goes to a driver that gets no input", async () => {
  const session = await scripted();
  const { other, data: channel } = session;
  const { run, ids } = await invoked(session);
  void other.say(announced(ids, 1, "a"));
  const loop = all(run);
  await settle();
  await channel.send(data(ids, "a", 0, "abc"));
  other.complete(ids, 1);
  expect(await loop).toEqual(["abc"]);
  expect((await channel.take()).every(isCredit)).toBe(true);
});
