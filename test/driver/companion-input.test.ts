import { describe, expect, test } from "vitest";
import type { ByteSource } from "../../lib/driver/mod.ts";
import { CAPABILITIES, errorOf } from "./support/frames.ts";
import { credit, stop } from "./companion/support/scripted-end.ts";
import { bytesOf, pair, pattern, scripted, streamOf, textOf } from "./support/companion.ts";
import { failureOf, heard, invoked, prepared, settle, settled } from "./support/session.ts";

/** A stream that tells what became of it. */
function watched(chunk = 1000): {
  readonly source: ReadableStream<Uint8Array>;
  readonly cancelled: () => unknown;
} {
  let reason: unknown;
  const source = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => controller.enqueue(pattern(chunk)),
      cancel: (given) => void (reason = given),
    },
    { highWaterMark: 0 },
  );
  return { source, cancelled: () => reason };
}

describe("the input of a run reaches the driver", () => {
  const SOURCES: readonly (readonly [string, () => ByteSource])[] = [
    ["bytes", () => pattern(700_000)],
    ["no bytes", () => new Uint8Array(0)],
    [
      "a stream",
      () =>
        new ReadableStream<Uint8Array>({
          start(controller) {
            for (let at = 0; at < 700_000; at += 70_000)
              controller.enqueue(pattern(700_000).subarray(at, at + 70_000));
            controller.close();
          },
        }),
    ],
    [
      "an async iterable",
      () =>
        (async function* () {
          for (let at = 0; at < 700_000; at += 100_000)
            yield pattern(700_000).subarray(at, at + 100_000);
        })(),
    ],
  ];

  test.each(SOURCES)("from %s", async (what, source) => {
    let got: Uint8Array | undefined;
    const { driver } = await pair({
      invoke: async ({ input }) => void (got = await bytesOf(input)),
    });
    const run = driver.invoke("op", { input: source() });
    await run.completed;
    const expected = what === "no bytes" ? new Uint8Array(0) : pattern(700_000);
    expect(got).toEqual(expected);
    expect(await run.inputSent).toEqual({ end: "final", length: expected.length });
  });

  test("as nothing where there is none, under the handle companion:none", async () => {
    let handle: unknown;
    const { driver } = await pair({
      invoke: async ({ input, inputHandle }) => {
        handle = inputHandle;
        expect(await bytesOf(input)).toHaveLength(0);
      },
    });
    const run = driver.invoke("op");
    expect(await run.completed).toMatchObject({ status: "completed" });
    expect(handle).toEqual({ kind: "pipe", value: "companion:none" });
    expect(await run.inputSent).toEqual({ end: "final", length: 0 });
  });

  test("while data goes the other way, echoed", async () => {
    const content = pattern(900_000);
    const { driver } = await pair({
      invoke: async ({ input, observe }) => await observe("echo", { data: input }),
    });
    const run = driver.invoke("op", { input: content });
    for await (const { data } of run) expect(await bytesOf(data)).toEqual(content);
    expect(await run.inputSent).toEqual({ end: "final", length: content.length });
    await run.completed;
  });
});

describe("an input that is not wanted", () => {
  test("is never read where the driver does not read it; a stream is cancelled at the completion", async () => {
    const { driver } = await pair({ invoke: () => {} });
    const { source, cancelled } = watched();
    const run = driver.invoke("op", { input: source });
    await run.completed;
    await settle();
    expect(cancelled()).toMatchObject({ code: "invocation_ended" });
    expect(await run.inputSent).toMatchObject({ end: "abort", length: 0 });
  });

  test("that is an iterable is returned", async () => {
    let returned = false;
    const { driver } = await pair({
      invoke: async ({ input }) => {
        const reader = input.getReader();
        await reader.read();
        await reader.cancel();
      },
    });
    const run = driver.invoke("op", {
      input: (async function* () {
        try {
          for (;;) yield pattern(1000);
        } finally {
          returned = true;
        }
      })(),
    });
    await run.completed;
    expect(await run.inputSent).toMatchObject({ end: "abort" });
    await settle();
    expect(returned).toBe(true);
  });

  test("and stopped by the driver is given up, and the run goes on", async () => {
    const session = await scripted();
    const { run, ids } = await invoked(session, { input: pattern(5000) });
    await session.data.send(credit(streamOf(ids, "input"), 1000), stop(streamOf(ids, "input")));
    expect(await run.inputSent).toEqual({ end: "abort", length: 1000 });
    expect(await session.data.take()).toMatchObject([
      { header: { sequence: 0, length: 1000, final: false } },
      { type: "abort", stream_id: "input" },
    ]);
    session.other.complete(ids);
    await run.completed;
  });

  test("is cancelled when its run times out in the queue, is refused, or the session ends", async () => {
    const session = await scripted();
    const { other, driver, clock } = session;
    const first = await invoked(session);
    const queued = watched();
    const waiting = driver.invoke("op", { input: queued.source, timeout: 1000 });
    clock.advance(1000);
    expect(await failureOf(waiting.completed)).toMatchObject({ code: "invocation_timeout" });
    expect(await failureOf(waiting.inputSent)).toMatchObject({ code: "invocation_timeout" });
    expect(queued.cancelled()).toMatchObject({ code: "invocation_timeout" });
    other.complete(first.ids);
    await first.run.completed;
    const refused = watched();
    const second = await invoked(session, { input: refused.source });
    void other.say({ id: second.id, error: errorOf("driver_internal") });
    expect(await failureOf(second.run.completed)).toMatchObject({ code: "driver_internal" });
    expect(refused.cancelled()).toMatchObject({ code: "driver_internal" });
    const lost = watched();
    const third = await invoked(session, { input: lost.source });
    await other.hangUp();
    await settle();
    expect(await failureOf(third.run.completed)).toMatchObject({ code: "connection_closed" });
    expect(lost.cancelled()).toMatchObject({ code: "connection_closed" });
  });
});

describe("an input that fails", () => {
  test("in its source: the driver sees an abort, inputSent rejects with the cause", async () => {
    let failure: unknown;
    const { driver } = await pair({
      invoke: async ({ input, observe }) => {
        await textOf(input).catch((error: unknown) => (failure = error));
        await observe("after");
      },
    });
    const run = driver.invoke("op", {
      input: (async function* () {
        yield pattern(10);
        throw new Error("no more disk");
      })(),
    });
    expect(await run.completed).toMatchObject({ status: "completed" });
    expect(failure).toMatchObject({ code: "stream_aborted" });
    expect(await failureOf(run.inputSent)).toMatchObject({
      code: "stream_aborted",
      cause: { message: "no more disk" },
    });
  });

  test.each([42, "text", null, {}])(
    "because it is none (%j): TypeError, nothing is sent",
    async (input) => {
      const session = await scripted();
      expect(() => session.driver.invoke("op", { input: input as never })).toThrow(TypeError);
      const { run, ids } = await invoked(session);
      session.other.complete(ids);
      await run.completed;
    },
  );

  test("because its stream is locked: TypeError; locked later: the run fails, nothing is sent", async () => {
    const session = await scripted();
    const { driver, other } = session;
    const locked = watched().source;
    locked.getReader();
    expect(() => driver.invoke("op", { input: locked })).toThrow(TypeError);
    const first = await invoked(session);
    const later = watched().source;
    const second = driver.invoke("op", { input: later });
    later.getReader();
    const third = driver.invoke("op");
    other.complete(first.ids);
    expect(await failureOf(second.completed)).toMatchObject({ code: "input_undeliverable" });
    const { ids } = await heard(other);
    expect(ids.invocation_id).toBe(third.invocationId);
    other.complete(ids);
    await third.completed;
  });

  test("given beside inputHandle: TypeError", async () => {
    const session = await scripted();
    const options = { input: pattern(1), inputHandle: { kind: "pipe", value: "x" } as const };
    expect(() => session.driver.invoke("op", options)).toThrow(TypeError);
  });

  test("because there is no way to it: input_undeliverable before anything is sent, and the next one runs", async () => {
    const session = await prepared();
    const run = session.driver.invoke("op", { input: pattern(1) });
    expect(await failureOf(run.completed)).toMatchObject({ code: "input_undeliverable" });
    expect(await failureOf(run.inputSent)).toMatchObject({ code: "input_undeliverable" });
    const next = await invoked(session);
    session.other.complete(next.ids);
    await next.run.completed;
  });

  test("because the channel ends while it waits for its turn: the run fails, the next one runs", async () => {
    const session = await scripted();
    const { other, driver, data } = session;
    const first = await invoked(session);
    const second = driver.invoke("op", { input: pattern(1) });
    const third = driver.invoke("op");
    await data.end();
    other.complete(first.ids);
    expect(await failureOf(second.completed)).toMatchObject({ code: "input_undeliverable" });
    const { ids } = await heard(other);
    expect(ids.invocation_id).toBe(third.invocationId);
    other.complete(ids);
    await third.completed;
  });
});

describe("an input that is offered beside the channel", () => {
  /** A session whose adapter offers inputs; the test says when and how. */
  async function offering(): Promise<{
    readonly session: Awaited<ReturnType<typeof scripted>>;
    readonly offers: PromiseWithResolvers<never>[];
  }> {
    const offers: PromiseWithResolvers<never>[] = [];
    const offerInput = () => {
      const offer = Promise.withResolvers<never>();
      offers.push(offer);
      return offer.promise;
    };
    const options = { offerInput, capabilities: { ...CAPABILITIES, protocols: [] }, hello: null };
    const session = await scripted(options);
    return { session, offers };
  }

  test("is sent at its address, and its run waits for it", async () => {
    const { session, offers } = await offering();
    const run = session.driver.invoke("op", { input: pattern(10) });
    await settle();
    const sent = Promise.withResolvers<number>();
    const handle = { kind: "socket", value: "/tmp/x" } as const;
    let withdrawn: unknown;
    offers[0]!.resolve({
      handle,
      sent: sent.promise,
      withdraw: (reason: unknown) => void (withdrawn = reason),
    } as never);
    const request = await session.other.expect("driver.invoke");
    expect(request.params).toMatchObject({ ephemeral_exact_input_handle: handle });
    sent.resolve(10);
    expect(await run.inputSent).toEqual({ end: "final", length: 10 });
    session.other.complete(request.params as never);
    await run.completed;
    expect(withdrawn).toMatchObject({ code: "invocation_ended" });
  });

  test("and cannot be: the run fails and does not hold up the next", async () => {
    const { session, offers } = await offering();
    const run = session.driver.invoke("op", { input: pattern(10) });
    const next = session.driver.invoke("op");
    await settle();
    offers[0]!.reject(new Error("no room"));
    expect(await failureOf(run.completed)).toMatchObject({ cause: { message: "no room" } });
    const { ids } = await heard(session.other);
    session.other.complete(ids);
    await next.completed;
  });

  test("and given up while it is arranged does not hold up the next; what comes of it is withdrawn", async () => {
    const { session, offers } = await offering();
    const run = session.driver.invoke("op", { input: pattern(10) });
    const next = session.driver.invoke("op");
    await settle();
    run.cancel();
    const { ids } = await heard(session.other);
    let withdrawn = false;
    offers[0]!.resolve({
      handle: { kind: "socket", value: "/tmp/x" },
      sent: Promise.resolve(0),
      withdraw: () => void (withdrawn = true),
    } as never);
    await settle();
    expect(withdrawn).toBe(true);
    session.other.complete(ids);
    await next.completed;
    expect(await settled(run.completed)).toBe(true);
  });
});
