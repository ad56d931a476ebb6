import { describe, expect, test } from "vitest";
import type { Block } from "./companion/support/blocks.ts";
import { credit, frame } from "./companion/support/scripted-end.ts";
import {
  all,
  announced,
  bytesOf,
  pattern,
  scripted,
  type Scripted,
  type ScriptOptions,
  streamOf,
  textOf,
} from "./support/companion.ts";
import { type Ids, observation } from "./support/frames.ts";
import { failureOf, heard, invoked, settle, settled } from "./support/session.ts";

function data(ids: Ids, id: string, sequence: number, payload: string | Uint8Array, final = true) {
  return frame(streamOf(ids, id), sequence, { payload, final });
}

/** A session with a driver that knows no credit. */
function serial(options: ScriptOptions = {}): Promise<Scripted> {
  return scripted({ ...options, hello: { window: 0 } });
}

/** Names of what was sent to the driver. */
function sent(blocks: readonly Block[]): string[] {
  return blocks.map((block) =>
    "header" in block
      ? `${block.header.stream_id} ${block.header.length}${block.header.final ? " final" : ""}`
      : block.type,
  );
}

describe("a serial driver", () => {
  test("gets no credit and no stop; its data flows unasked", async () => {
    const session = await serial();
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"), announced(ids, 2, "b"), announced(ids, 3, "c"));
    await channel.send(data(ids, "a", 0, "one"), data(ids, "b", 0, "two"), data(ids, "c", 0, "3"));
    other.complete(ids, 3);
    const seen: string[] = [];
    for await (const { data: bytes, sequence } of run)
      if (sequence !== 2) seen.push(await textOf(bytes));
    expect(seen).toEqual(["one", "3"]);
    await run.completed;
    expect(await channel.take()).toEqual([]);
  });

  test("gets its input once it has accepted, while it sends data itself", async () => {
    const session = await serial();
    const { other, data: channel } = session;
    const { run, id, ids } = await invoked(session, { input: pattern(300_000) });
    expect(await channel.take()).toEqual([]);
    void other.say(announced(ids, 1, "a"));
    const loop = all(run);
    await channel.send(data(ids, "a", 0, "first half, ", false));
    expect(await channel.take()).toEqual([]);
    void other.say({ id, result: {} });
    await settle();
    expect(sent(await channel.take())).toEqual(["input 262144", "input 37856 final"]);
    await channel.send(data(ids, "a", 1, "second half"));
    other.complete(ids, 1);
    expect(await loop).toEqual(["first half, second half"]);
    expect(await run.inputSent).toEqual({ end: "final", length: 300_000 });
    await run.completed;
  });

  test("that completes before it accepts: inputSent rejects with input_unread, the run completes", async () => {
    const session = await serial();
    const { other, data: channel } = session;
    const { run, id, ids } = await invoked(session, { input: pattern(10) });
    void other.say({ method: "driver.completed", params: { ...ended(ids) } }, { id, result: {} });
    expect(await run.completed).toMatchObject({ status: "completed" });
    expect(await failureOf(run.inputSent)).toMatchObject({ code: "input_unread" });
    expect(sent(await channel.take())).toEqual(["abort"]);
    expect(await run.accepted).toEqual({});
  });

  test("that completes without reading all of its input: the rest is aborted", async () => {
    const session = await serial();
    const { other, data: channel } = session;
    let cancelled: unknown;
    const input = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(pattern(10)),
      cancel: (reason) => void (cancelled = reason),
    });
    const { run, id, ids } = await invoked(session, { input });
    void other.say({ id, result: {} });
    await settle();
    other.complete(ids);
    expect(await run.completed).toMatchObject({ status: "completed" });
    expect(await run.inputSent).toEqual({ end: "abort", length: 10 });
    expect(sent(await channel.take())).toEqual(["input 10", "abort"]);
    expect(cancelled).toMatchObject({ code: "invocation_ended" });
  });

  test("that runs two at a time gets one input after the other, as it accepts them", async () => {
    const session = await serial({ capabilities: { concurrency: true, max_concurrency: 2 } });
    const { other, data: channel, driver } = session;
    const first = driver.invoke("one", { input: pattern(1) });
    const second = driver.invoke("two", { input: pattern(2) });
    const [one, two] = [await heard(other), await heard(other)];
    void other.say({ id: two.id, result: {} }, { id: one.id, result: {} });
    await settle();
    expect(sent(await channel.take())).toEqual(["input 2 final", "input 1 final"]);
    other.complete(one.ids);
    other.complete(two.ids);
    await Promise.all([first.completed, second.completed]);
  });

  test("that is stopped by a full stream is read on as its consumer takes", async () => {
    const session = await serial({ serialStreamBytes: 1000 });
    const { other, data: channel, driver } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const bytes = (await steps.next()).value!.data!;
    for (let n = 0; n < 8; n += 1) await channel.send(data(ids, "a", n, pattern(400, n), n === 7));
    expect(bytes.length).toBeLessThanOrEqual(1200);
    expect((await bytesOf(bytes)).length).toBe(3200);
    other.complete(ids, 1);
    await run.completed;
    expect(driver.state).toBe("PREPARED");
  });

  test("held up by an unread stream while somebody waits: head_of_line after stallTimeout, and the run goes on", async () => {
    const session = await serial({ serialStreamBytes: 1000, stallTimeout: 2000 });
    const { other, data: channel, clock } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"), announced(ids, 2, "b"));
    const steps = run[Symbol.asyncIterator]();
    const reader = (await steps.next()).value!.data!.getReader();
    const second = (await steps.next()).value!;
    for (let n = 0; n < 4; n += 1) await channel.send(data(ids, "a", n, pattern(500), n === 3));
    await channel.send(data(ids, "b", 0, "two"));
    const reading = textOf(second.data);
    await settle();
    clock.advance(1999);
    expect(await settled(reading)).toBe(false);
    clock.advance(1);
    expect(await reading).toBe("two");
    expect(await failureOf(reader.read())).toMatchObject({ code: "head_of_line" });
    other.complete(ids, 2);
    expect(await steps.next()).toMatchObject({ done: true });
    await run.completed;
    expect(await channel.take()).toEqual([]);
  });

  test("whose run nobody reads but awaits: everything is discarded at once", async () => {
    const session = await serial({ serialStreamBytes: 1000 });
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    const { completed } = run;
    void other.say(announced(ids, 1, "a"));
    for (let n = 0; n < 10; n += 1) await channel.send(data(ids, "a", n, pattern(500), n === 9));
    other.complete(ids, 1);
    expect(await completed).toMatchObject({ status: "completed" });
  });

  test("with early data over the budget ends the session", async () => {
    const session = await serial({ earlyBytes: 1000 });
    const { run, ids } = await invoked(session);
    await session.data.send(data(ids, "a", 0, pattern(600)), data(ids, "b", 0, pattern(600)));
    expect((await session.driver.ended).reason).toMatchObject({ code: "early_data" });
    expect(await failureOf(run.completed)).toMatchObject({ code: "early_data" });
  });

  test("with early data within the budget gives it to the reader", async () => {
    const session = await serial();
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    await channel.send(data(ids, "a", 0, "early ", false));
    void other.say(announced(ids, 1, "a"));
    const loop = all(run);
    await channel.send(data(ids, "a", 1, "bird"));
    other.complete(ids, 1);
    expect(await loop).toEqual(["early bird"]);
  });

  test("that begins a stream before the one before has ended, or sends credit, ends the session", async () => {
    for (const block of [
      (ids: Ids) => data(ids, "b", 0, ""),
      (ids: Ids) => credit(streamOf(ids, "input"), 10),
    ]) {
      const session = await serial();
      const { run, ids } = await invoked(session);
      void session.other.say(announced(ids, 1, "a"), announced(ids, 2, "b"));
      await settle();
      await session.data.send(data(ids, "a", 0, "", false), block(ids));
      expect((await session.driver.ended).reason).toMatchObject({ code: "malformed" });
      expect(await failureOf(run.completed)).toMatchObject({ code: "malformed" });
    }
  });

  test("goes on reading its input after it has ended its own half", async () => {
    const session = await serial();
    const { other, data: channel } = session;
    await channel.end();
    const { run, id, ids } = await invoked(session, { input: pattern(10) });
    void other.say({ id, result: {} });
    await settle();
    expect(sent(await channel.take())).toEqual(["input 10 final"]);
    other.complete(ids);
    await run.completed;
  });

  test("dataTimeout counts only time in which the channel is read", async () => {
    const session = await serial({ serialStreamBytes: 100, dataTimeout: 1000 });
    const { other, data: channel, clock } = session;
    const { run, ids } = await invoked(session);
    void other.say(announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const bytes = (await steps.next()).value!.data!;
    const reader = bytes.getReader();
    for (let n = 0; n < 3; n += 1) await channel.send(data(ids, "a", n, pattern(100), false));
    other.complete(ids, 1);
    await settle();
    clock.advance(20_000);
    expect(await settled(run.completed)).toBe(false);
    for (let n = 0; n < 3; n += 1) expect((await reader.read()).value).toHaveLength(100);
    await settle();
    clock.advance(999);
    expect(await settled(run.completed)).toBe(false);
    clock.advance(1);
    expect(await run.completed).toMatchObject({ incomplete: { code: "incomplete" } });
    expect(await failureOf(reader.read())).toMatchObject({ code: "incomplete" });
  });

  test("that ends: what it wrote before is not lost to a slow consumer", async () => {
    const session = await serial({ serialStreamBytes: 100 });
    const { other, data: channel } = session;
    const { run, id, ids } = await invoked(session);
    void other.say({ id, result: {} }, announced(ids, 1, "a"));
    const steps = run[Symbol.asyncIterator]();
    const reader = (await steps.next()).value!.data!.getReader();
    for (let n = 0; n < 5; n += 1) await channel.send(data(ids, "a", n, pattern(100), n === 4));
    other.complete(ids, 1);
    await channel.end();
    await other.hangUp();
    await session.driver.ended;
    expect(await run.completed).toMatchObject({ status: "completed" });
    let bytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.length;
    }
    expect(bytes).toBe(500);
  });

  test("observations beside data of the same run", async () => {
    const session = await serial();
    const { other, data: channel } = session;
    const { run, ids } = await invoked(session);
    const loop = all(run);
    for (let n = 0; n < 5; n += 1) {
      void other.say(observation(ids, 2 * n + 1), announced(ids, 2 * n + 2, `s${n}`));
      await channel.send(data(ids, `s${n}`, 0, `data ${n}`));
    }
    other.complete(ids, 10);
    expect(await loop).toEqual([0, 1, 2, 3, 4].flatMap((n) => ["k", `data ${n}`]));
  });
});

function ended({ invocation_id, attempt_id }: Ids): object {
  const summary_digest = `sha256:${"a1".repeat(32)}`;
  return { invocation_id, attempt_id, status: "completed", summary_digest };
}
