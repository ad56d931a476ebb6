import { describe, expect, test } from "vitest";
import type { Invocation, Observation, Run } from "../../lib/driver/mod.ts";
import { serveControl } from "../../lib/driver/mod.ts";
import { duplexPair } from "../../lib/streams/duplex-pair.ts";
import { VirtualClock } from "../../lib/testing/virtual-clock.ts";
import { hello, ScriptedEnd } from "./companion/support/scripted-end.ts";
import { IDENTITY } from "./support/frames.ts";
import { sha256Digest } from "../../lib/json/mod.ts";
import { all, bytesOf, pair, pattern, textOf, within } from "./support/companion.ts";
import { range } from "./support/session.ts";
import { failureOf, settle, settled } from "./support/session.ts";

const encoder = new TextEncoder();
const bytes = (text: string): Uint8Array => encoder.encode(text);

function streamOfChunks(...chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

describe("data of observations reaches the host", () => {
  test("in order, alternating with inline observations, from bytes, streams and iterables", async () => {
    const { driver } = await pair({
      invoke: async ({ observe }) => {
        for (const n of range(1, 20)) {
          await observe(`before ${n}`);
          const source = [
            bytes(`data ${n}`),
            streamOfChunks(bytes("data "), bytes(`${n}`)),
            (async function* () {
              yield bytes("da");
              yield bytes(`ta ${n}`);
            })(),
          ];
          await observe("blob", { data: source[n % 3]! });
        }
      },
    });
    const run = driver.invoke("op");
    expect(await all(run)).toEqual(range(1, 20).flatMap((n) => [`before ${n}`, `data ${n}`]));
    expect(await run.completed).toMatchObject({ status: "completed", last_sequence: 40 });
  });

  test("with its digest and length once it has ended", async () => {
    const content = pattern(600_000);
    const { driver } = await pair({
      invoke: async ({ observe }) => await observe("blob", { data: content }),
    });
    const run = driver.invoke("op");
    for await (const { data } of run) {
      expect([data?.digest, data?.length]).toEqual([undefined, 0]);
      expect(await bytesOf(data)).toEqual(content);
      expect([data?.digest, data?.length]).toEqual([sha256Digest(content), content.length]);
    }
    await run.completed;
  });

  test("in one-byte frames, 16 Ki of them", async () => {
    const content = pattern(16_384);
    const { driver } = await pair({
      invoke: async ({ observe }) =>
        await observe("blob", {
          data: (async function* () {
            for (const at of content.keys()) yield content.subarray(at, at + 1);
          })(),
        }),
    });
    const run = driver.invoke("op");
    for await (const { data } of run) expect(await bytesOf(data)).toEqual(content);
    await run.completed;
  });

  test("as thousands of small streams, announced ahead of the reader", async () => {
    const { driver } = await pair({
      invoke: async ({ observe }) => {
        const sent: Promise<void>[] = [];
        for (const n of range(1, 3000)) {
          sent.push(observe("blob", { data: bytes(`stream ${n}`) }));
          if (sent.length >= 100) await sent.shift();
        }
        await Promise.all(sent);
      },
    });
    const run = driver.invoke("op");
    expect(await all(run)).toEqual(range(1, 3000).map((n) => `stream ${n}`));
    await run.completed;
  });

  test("of two streams at once, read one after the other", async () => {
    const [one, two] = [pattern(700_000, 1), pattern(500_000, 2)];
    const { driver } = await pair({
      invoke: async ({ observe }) => {
        await Promise.all([observe("one", { data: one }), observe("two", { data: two })]);
      },
    });
    const run = driver.invoke("op");
    const steps = run[Symbol.asyncIterator]();
    const first = (await steps.next()).value!;
    const reader = first.data!.getReader();
    const second = (await steps.next()).value!;
    expect(await bytesOf(second.data)).toEqual(two);
    reader.releaseLock();
    expect(await bytesOf(first.data)).toEqual(one);
    expect(await steps.next()).toMatchObject({ done: true });
    await run.completed;
  });

  test("of two streams read side by side, and after the loop", async () => {
    const { driver } = await pair({
      invoke: async ({ observe }) => {
        await Promise.all(range(1, 2).map((n) => observe("k", { data: pattern(600_000, n) })));
      },
    });
    const run = driver.invoke("op");
    const reading: Promise<Uint8Array>[] = [];
    for await (const { data } of run) reading.push(bytesOf(data));
    expect(await Promise.all(reading)).toEqual([pattern(600_000, 1), pattern(600_000, 2)]);
    await run.completed;
  });

  test("while one stream is never read, beside it", async () => {
    const { driver } = await pair({
      invoke: async ({ observe }) => {
        void observe("unread", { data: pattern(900_000) }).catch(() => {});
        await observe("read", { data: pattern(900_000, 3) });
        await observe("after");
      },
    });
    const run = driver.invoke("op");
    const seen: string[] = [];
    for await (const { kind, data } of run) {
      seen.push(kind);
      if (kind === "read") expect(await bytesOf(data)).toEqual(pattern(900_000, 3));
    }
    expect(seen).toEqual(["unread", "read", "after"]);
    expect(await run.completed).toMatchObject({ status: "completed" });
  });
});

describe("what a host does not want", () => {
  const blobs = async ({ observe }: Invocation): Promise<void> => {
    for (const n of range(1, 5)) {
      await observe(`before ${n}`);
      await observe(`blob ${n}`, { data: pattern(600_000, n) });
    }
  };
  const kinds = range(1, 5).flatMap((n) => [`before ${n}`, `blob ${n}`]);

  test("data that is ignored is discarded by the next next(), also by the last", async () => {
    const { driver } = await pair({ invoke: blobs });
    const run = driver.invoke("op");
    const seen: Observation[] = [];
    for await (const observation of run) seen.push(observation);
    expect(seen.map(({ kind }) => kind)).toEqual(kinds);
    expect(await run.completed).toMatchObject({ status: "completed" });
    for (const { data } of seen)
      if (data !== undefined)
        expect(await failureOf(data.getReader().read())).toMatchObject({ code: "data_discarded" });
  });

  test("only completed: everything is discarded, and the run completes", async () => {
    const { driver } = await pair({ invoke: blobs });
    const run = driver.invoke("op");
    expect(await run.completed).toMatchObject({ status: "completed", last_sequence: 10 });
    expect(await failureOf(all(run))).toMatchObject({ code: "observations_discarded" });
  });

  test("Promise.all of completed and the loop loses nothing", async () => {
    const { driver } = await pair({
      invoke: async ({ observe }) => {
        for (const n of range(1, 5)) await observe("k", { data: bytes(`data ${n}`) });
      },
    });
    const run = driver.invoke("op");
    const [completion, seen] = await Promise.all([run.completed, all(run)]);
    expect(seen).toEqual(range(1, 5).map((n) => `data ${n}`));
    expect(completion).toMatchObject({ status: "completed" });
  });

  test("const { completed } = run before the loop loses nothing, nor does awaiting accepted between", async () => {
    const { driver } = await pair({
      invoke: async ({ observe }) => {
        for (const n of range(1, 5)) await observe("k", { data: bytes(`data ${n}`) });
      },
    });
    const run = driver.invoke("op");
    const { completed } = run;
    await run.accepted;
    expect(await all(run)).toEqual(range(1, 5).map((n) => `data ${n}`));
    expect(await completed).toMatchObject({ status: "completed" });
  });

  test("an inner break stops that stream only", async () => {
    const ends: string[] = [];
    const { driver } = await pair({
      invoke: async ({ observe }) => {
        for (const n of range(1, 3)) {
          let stopped = false;
          const source = new ReadableStream<Uint8Array>({
            pull: (controller) => controller.enqueue(pattern(100_000, n)),
            cancel: () => void (stopped = true),
          });
          await observe("endless", { data: source });
          ends.push(`${n} ${stopped}`);
        }
        await observe("last", { data: bytes("whole") });
      },
    });
    const run = driver.invoke("op");
    const seen: string[] = [];
    for await (const { kind, data } of run) {
      if (kind === "last") seen.push(await textOf(data));
      else
        for await (const chunk of data!) {
          seen.push(`${chunk.length > 0}`);
          break;
        }
    }
    expect(seen).toEqual(["true", "true", "true", "whole"]);
    expect(ends).toEqual(["1 true", "2 true", "3 true"]);
    expect(await run.completed).toMatchObject({ status: "completed" });
  });

  test("an outer break in the midst of data cancels the run; taken streams reject with run_stopped", async () => {
    const { driver } = await pair({
      invoke: async ({ observe, signal }) => {
        while (!signal.aborted) await observe("k", { data: pattern(800_000) });
      },
    });
    const run = driver.invoke("op");
    let reader!: ReadableStreamDefaultReader<Uint8Array>;
    for await (const { data } of run) {
      reader = data!.getReader();
      await reader.read();
      break;
    }
    expect(await failureOf(reader.read())).toMatchObject({ code: "run_stopped" });
    expect(await run.completed).toMatchObject({
      status: "cancelled",
      cancelled: { code: "run_stopped" },
    });
    expect(driver.state).toBe("PREPARED");
  });

  test("a cancel in the midst of data in both directions", async () => {
    let inputFailure: unknown;
    const { driver } = await pair({
      invoke: async ({ observe, input, signal }) => {
        const reading = (async () => {
          for await (const _ of input);
        })().catch((error: unknown) => (inputFailure = error));
        while (!signal.aborted) await observe("k", { data: pattern(300_000) });
        await reading;
      },
    });
    let cancelled: unknown;
    const input = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await settle();
        controller.enqueue(pattern(1000));
      },
      cancel: (reason) => void (cancelled = reason),
    });
    const run = driver.invoke("op", { input });
    const steps = run[Symbol.asyncIterator]();
    const { data } = (await steps.next()).value!;
    const reader = data!.getReader();
    await reader.read();
    run.cancel("enough");
    expect(await failureOf(reader.read())).toMatchObject({ code: "aborted" });
    expect(await failureOf(steps.next())).toMatchObject({ code: "aborted" });
    expect(await run.completed).toMatchObject({
      status: "cancelled",
      cancelled: { code: "aborted", cause: "enough" },
    });
    expect(cancelled).toMatchObject({ code: "aborted" });
    expect(inputFailure).toMatchObject({ code: "stream_aborted" });
    expect(await run.inputSent).toMatchObject({ end: "abort" });
  });

  test("next() called ahead passes streams that nobody could take, and nothing hangs", async () => {
    const { driver } = await pair({ invoke: blobs });
    const run = driver.invoke("op");
    const steps = run[Symbol.asyncIterator]();
    const ahead = range(1, 11).map(() => steps.next());
    const seen = await Promise.all(ahead);
    expect(seen.slice(0, 10).map(({ value }) => value!.kind)).toEqual(kinds);
    expect(seen[10]).toMatchObject({ done: true });
    expect(await run.completed).toMatchObject({ status: "completed" });
  });
});

describe("consumers that prefetch", () => {
  /** Sends its data side by side. */
  const sideBySide = async ({ observe }: Invocation): Promise<void> => {
    await Promise.all(range(1, 4).map((n) => observe(`k ${n}`, { data: pattern(300_000, n) })));
  };

  test("Array.fromAsync: data is discarded", async () => {
    const { driver } = await pair({ invoke: sideBySide });
    const run = driver.invoke("op");
    const seen = await Array.fromAsync(run);
    expect(seen).toHaveLength(4);
    for (const { data } of seen)
      expect(await failureOf(bytesOf(data))).toMatchObject({ code: "data_discarded" });
    await run.completed;
  });

  test("hold keeps as many of the last as it says, readable while the run goes on", async () => {
    const { driver } = await pair({ invoke: sideBySide });
    const run = driver.invoke("op", { hold: 2 });
    const steps = run[Symbol.asyncIterator]();
    const seen: Observation[] = [];
    for (const _ of range(1, 4)) {
      const { value } = await steps.next();
      if (value !== undefined) seen.push(value);
    }
    // Three have passed, two of them are held; the fourth is the current one.
    expect(await failureOf(bytesOf(seen[0]!.data))).toMatchObject({ code: "data_discarded" });
    for (const n of range(2, 4))
      expect(await bytesOf(seen[n - 1]!.data)).toEqual(pattern(300_000, n));
    expect(await steps.next()).toMatchObject({ done: true });
    await run.completed;
  });

  test("ReadableStream.from and a transform that prefetches work with hold", async () => {
    const { driver } = await pair({ invoke: sideBySide });
    const run = driver.invoke("op", { hold: 8 });
    const streams = ReadableStream as unknown as {
      from(source: AsyncIterable<Observation>): ReadableStream<Observation>;
    };
    const through = streams
      .from(run)
      .pipeThrough(
        new TransformStream<Observation, Observation>(
          {},
          { highWaterMark: 4 },
          { highWaterMark: 4 },
        ),
      );
    let n = 0;
    for await (const { data } of through) {
      n += 1;
      expect(await bytesOf(data)).toEqual(pattern(300_000, n));
    }
    expect(n).toBe(4);
    await run.completed;
  });

  test("tee of the data gives both branches all of it", async () => {
    const { driver } = await pair({ invoke: sideBySide });
    const run = driver.invoke("op");
    let n = 0;
    for await (const { data } of run) {
      n += 1;
      const [left, right] = data!.tee();
      expect(await Promise.all([bytesOf(left), bytesOf(right)])).toEqual([
        pattern(300_000, n),
        pattern(300_000, n),
      ]);
    }
    await run.completed;
  });

  test("pipeThrough of the data counts as taking it", async () => {
    const { driver } = await pair({ invoke: sideBySide });
    const run = driver.invoke("op");
    const reading: Promise<Uint8Array>[] = [];
    for await (const { data } of run) {
      const through = data!.pipeThrough(new TransformStream<Uint8Array, Uint8Array>());
      reading.push(bytesOf(through));
    }
    expect(await Promise.all(reading)).toEqual(range(1, 4).map((n) => pattern(300_000, n)));
    await run.completed;
  });

  test("hold with a driver that sends one after the other: the first is given up after stallTimeout", async () => {
    const { driver, clock } = await pair({
      invoke: async ({ observe }) => {
        for (const n of range(1, 3)) await observe("k", { data: bytes(`data ${n}`) });
      },
    });
    const run = driver.invoke("op", { hold: 8 });
    const collecting = Array.fromAsync(run);
    expect(await settled(collecting)).toBe(false);
    const seen = await within(clock, collecting, { most: 100_000, step: 10_000 });
    expect(await failureOf(bytesOf(seen[0]!.data))).toMatchObject({ code: "consumer_stalled" });
    expect(await run.completed).toMatchObject({ status: "completed" });
  });
});

describe("several runs", () => {
  const concurrent = { concurrency: true, max_concurrency: 2 };
  const blob = async ({ observe, operation }: Invocation): Promise<void> => {
    for (const n of range(1, 3)) {
      await observe("k");
      await observe(operation, { data: pattern(400_000, n) });
    }
  };
  const readAll = async (run: Run): Promise<void> => {
    let n = 0;
    for await (const { data } of run) {
      if (data === undefined) continue;
      n += 1;
      expect(await bytesOf(data)).toEqual(pattern(400_000, n));
    }
    expect(n).toBe(3);
  };

  test("two at a time, read in the wrong order", async () => {
    const { driver } = await pair({ invoke: blob, capabilities: concurrent });
    const [first, second] = [driver.invoke("one"), driver.invoke("two")];
    await readAll(second);
    await readAll(first);
    await Promise.all([first.completed, second.completed]);
  });

  test("the first never touched, the second awaited, two at a time", async () => {
    const { driver } = await pair({ invoke: blob, capabilities: concurrent });
    const [first, second] = [driver.invoke("one"), driver.invoke("two")];
    await readAll(second);
    await second.completed;
    expect(await settled(first.accepted)).toBe(true);
    // Reading it only now says that nobody will iterate.
    await first.completed;
  });

  test("the first never touched, the second awaited, one at a time: the first gives way after stallTimeout", async () => {
    const { driver, clock } = await pair({ invoke: blob });
    const [first, second] = [driver.invoke("one"), driver.invoke("two")];
    await within(clock, readAll(second), { most: 120_000, step: 10_000 });
    await second.completed;
    await first.completed;
  });
});

describe("a driver whose data fails", () => {
  test("midway: the reader gets what came, then stream_aborted; observe() rejects; the invocation goes on", async () => {
    let failure: unknown;
    const { driver } = await pair({
      invoke: async ({ observe }) => {
        await observe("broken", {
          data: (async function* () {
            yield bytes("good");
            throw new Error("disk on fire");
          })(),
        }).catch((error: unknown) => (failure = error));
        await observe("after");
      },
    });
    const run = driver.invoke("op");
    const steps = run[Symbol.asyncIterator]();
    const { data } = (await steps.next()).value!;
    const reader = data!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("good");
    expect(await failureOf(reader.read())).toMatchObject({
      code: "stream_aborted",
      message: expect.stringContaining("disk on fire"),
    });
    expect(data!.digest).toBeUndefined();
    expect((await steps.next()).value).toMatchObject({ kind: "after" });
    expect(await steps.next()).toMatchObject({ done: true });
    expect(await run.completed).toMatchObject({ status: "completed" });
    expect(failure).toMatchObject({ code: "stream_aborted", cause: { message: "disk on fire" } });
  });

  test("because it is no source of bytes: TypeError before anything is announced", async () => {
    const failures: unknown[] = [];
    const { driver } = await pair({
      invoke: async ({ observe }) => {
        const locked = new ReadableStream<Uint8Array>();
        locked.getReader();
        for (const data of [42, "text", null, locked] as never[])
          await observe("bad", { data }).catch((error: unknown) => failures.push(error));
        await observe("both", { data: bytes("x"), payload: 1 }).catch((error: unknown) =>
          failures.push(error),
        );
        await observe("after");
      },
    });
    const run = driver.invoke("op");
    expect(await all(run)).toEqual(["after"]);
    expect(await run.completed).toMatchObject({ status: "completed", last_sequence: 1 });
    expect(failures).toHaveLength(5);
    for (const failure of failures) expect(failure).toBeInstanceOf(TypeError);
  });

  test("because there is no companion: observe() rejects with unavailable, the invocation goes on", async () => {
    let failure: unknown;
    const { driver } = await pair(
      {
        invoke: async ({ observe }) => {
          await observe("k", { data: bytes("x") }).catch((error: unknown) => (failure = error));
          await observe("after");
        },
      },
      {},
      { companion: false },
    );
    const run = driver.invoke("op");
    expect(await all(run)).toEqual(["after"]);
    expect(failure).toMatchObject({ code: "unavailable" });
    expect(await run.completed).toMatchObject({ status: "completed" });
  });
});

test("data that the driver does not wait for is sent before its completion", async () => {
  const { driver } = await pair({
    invoke: ({ observe }) => {
      for (const n of range(1, 3)) void observe("k", { data: pattern(500_000, n) }).catch(() => {});
    },
  });
  const run = driver.invoke("op");
  let n = 0;
  for await (const { data } of run) expect(await bytesOf(data)).toEqual(pattern(500_000, (n += 1)));
  expect(n).toBe(3);
  expect(await run.completed).not.toHaveProperty("incomplete");
});

test("close() with data under way in both directions ends in order, and everything settles", async () => {
  const { driver, served } = await pair({
    invoke: async ({ observe, input, signal }) => {
      const reading = bytesOf(input).catch(() => {});
      while (!signal.aborted) await observe("k", { data: pattern(500_000) });
      await reading;
    },
  });
  const input = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      await settle();
      controller.enqueue(pattern(70_000));
    },
  });
  const run = driver.invoke("op", { input });
  const steps = run[Symbol.asyncIterator]();
  const reader = (await steps.next()).value!.data!.getReader();
  await reader.read();
  const end = await driver.close();
  expect([end.reason.code, end.rungs]).toEqual(["session_closed", ["shutdown"]]);
  expect(await failureOf(reader.read())).toMatchObject({ code: "session_closed" });
  expect(await failureOf(steps.next())).toMatchObject({ code: "session_closed" });
  expect(await run.completed).toMatchObject({ status: "cancelled" });
  expect(await run.inputSent).toMatchObject({ end: "abort" });
  await served;
});

test("a driver whose host reads nothing of the channel any more ends handlerGrace after the control channel", async () => {
  const clock = new VirtualClock();
  const [control, servedControl] = duplexPair();
  const [channel, duplex] = duplexPair({ highWaterMark: 16 });
  const served = serveControl(servedControl, {
    identity: IDENTITY,
    clock,
    companion: { duplex },
    handlerGrace: 200,
    invoke: () => {},
  });
  const host = new ScriptedEnd({ readable: new ReadableStream(), writable: channel.writable });
  await host.send(hello());
  await control.writable.close();
  expect(await settled(served)).toBe(false);
  clock.advance(200);
  await served;
  expect(clock.pending).toBe(0);
});

describe("the idle timeout", () => {
  test("is reset by data, and stands still while a stream waits for its consumer", async () => {
    const gate: (() => void)[] = [];
    const { driver, clock } = await pair({
      invoke: async ({ observe }) => {
        await observe("k", {
          data: (async function* () {
            for (const n of range(1, 3)) {
              await new Promise<void>((resolve) => gate.push(resolve));
              yield bytes(`${n}`);
            }
            await new Promise<void>(() => {});
          })(),
        });
      },
    });
    const run = driver.invoke("op", { idleTimeout: 1000 });
    const steps = run[Symbol.asyncIterator]();
    const { data } = (await steps.next()).value!;
    await settle();
    clock.advance(60_000);
    const reader = data!.getReader();
    for (const n of range(1, 3)) {
      const next = reader.read();
      await settle();
      clock.advance(900);
      gate.shift()!();
      expect(new TextDecoder().decode((await next).value)).toBe(`${n}`);
    }
    const last = failureOf(reader.read());
    await settle();
    clock.advance(1000);
    expect(await last).toMatchObject({ code: "idle_timeout" });
    expect(await run.completed).toMatchObject({ cancelled: { code: "idle_timeout" } });
  });
});
