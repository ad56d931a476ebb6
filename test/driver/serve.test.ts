import { describe, expect, test } from "vitest";
import type { Invocation, TerminalStatus } from "../../lib/driver/mod.ts";
import { Summary } from "../../lib/driver/summary.ts";
import { DIGEST, IDENTITY, instanceId, invokeParams, PREPARE, VERSIONS } from "./support/frames.ts";
import { HELLO, held, served } from "./support/served.ts";
import { failureOf, range, settle, settled } from "./support/session.ts";

const idle = (): void => {};

describe("serveControl() answers", () => {
  test("hello with identity, capabilities and permissions, what is left out filled in", async () => {
    const { host } = served({
      invoke: idle,
      permissions: ["net"],
      capabilities: { operations: ["a"], protocols: ["x"], cancellation: false },
    });
    expect((await host.call("driver.hello", HELLO)).result).toEqual({
      driver_version_range: VERSIONS,
      identity: IDENTITY,
      capabilities: {
        protocols: ["x", "sluice.summary.v1"],
        operations: ["a"],
        streaming: true,
        cancellation: false,
        retry_observed: false,
        concurrency: false,
        max_concurrency: 1,
      },
      requested_permissions: ["net"],
    });
  });

  test("everything in order, also when it comes in one chunk", async () => {
    const { host, ended } = served({ invoke: ({ observe }) => observe("done") });
    const frame = (id: number, method: string, params?: object) => ({ id, method, params });
    void host.say(
      frame(1, "driver.hello", HELLO),
      frame(2, "driver.prepare", PREPARE),
      frame(3, "driver.capabilities"),
      frame(4, "driver.invoke", invokeParams(1)),
    );
    for (const id of range(1, 4)) expect(await host.hear()).toMatchObject({ id, result: {} });
    expect((await host.toCompletion()).completed).toMatchObject({
      status: "completed",
      last_sequence: 1,
    });
    void host.say(frame(5, "driver.reset"), frame(6, "driver.shutdown"));
    expect(await host.hear()).toMatchObject({ id: 5, result: {} });
    expect(await host.hear()).toMatchObject({ id: 6, result: {} });
    expect(await host.hear()).toBeUndefined();
    await ended;
  });

  const ORDERS: readonly (readonly [string, readonly [string, object?][], string])[] = [
    ["prepare before hello", [["driver.prepare", PREPARE]], "invalid_state"],
    ["capabilities before hello", [["driver.capabilities"]], "invalid_state"],
    ["invoke before hello", [["driver.invoke", invokeParams(1)]], "invalid_state"],
    ["shutdown before hello", [["driver.shutdown"]], "invalid_state"],
    [
      "hello twice",
      [
        ["driver.hello", HELLO],
        ["driver.hello", HELLO],
      ],
      "invalid_state",
    ],
    [
      "hello twice, of another version",
      [
        ["driver.hello", HELLO],
        ["driver.hello", { core_version_range: { minimum: "9", maximum: "9" } }],
      ],
      "invalid_state",
    ],
    [
      "invoke before prepare",
      [
        ["driver.hello", HELLO],
        ["driver.invoke", invokeParams(1)],
      ],
      "invalid_state",
    ],
    ["reset before prepare", [["driver.hello", HELLO], ["driver.reset"]], "invalid_state"],
    ["shutdown before prepare", [["driver.hello", HELLO], ["driver.shutdown"]], "invalid_state"],
    [
      "prepare twice",
      [
        ["driver.hello", HELLO],
        ["driver.prepare", PREPARE],
        ["driver.prepare", PREPARE],
      ],
      "invalid_state",
    ],
    [
      "cancel of nothing",
      [
        ["driver.hello", HELLO],
        ["driver.prepare", PREPARE],
        ["driver.cancel", { invocation_id: instanceId(1), reason: "r", deadline_millis: 1 }],
      ],
      "invalid_state",
    ],
    [
      "no version in common",
      [["driver.hello", { core_version_range: { minimum: "2", maximum: "3" } }]],
      "unsupported_rpc_version",
    ],
    [
      "more permissions than asked for",
      [
        ["driver.hello", HELLO],
        ["driver.prepare", { ...PREPARE, approved_permissions: ["gpu"] }],
      ],
      "permission_denied",
    ],
    [
      "an operation that is not offered",
      [
        ["driver.hello", HELLO],
        ["driver.prepare", PREPARE],
        ["driver.invoke", invokeParams(1, { operation: "x" })],
      ],
      "capability_mismatch",
    ],
  ];
  test.each(ORDERS)("%s with an error of its class, and goes on", async (_, calls, errorClass) => {
    const { host, ended } = served({ invoke: idle, capabilities: { operations: ["op"] } });
    let answer;
    for (const [method, params] of calls) answer = await host.call(method, params);
    expect(answer).toMatchObject({ error: { data: { class: errorClass } } });
    expect(await settled(ended)).toBe(false);
  });

  test("an invoke while another is under way, and a reset then, with invalid_state", async () => {
    const end = held<void>();
    const { host } = served({ invoke: () => end.promise });
    await host.prepare();
    await host.invoke(1);
    for (const call of [host.call("driver.invoke", invokeParams(2)), host.call("driver.reset")])
      expect(await call).toMatchObject({
        error: { code: -32001, data: { class: "invalid_state" } },
      });
    expect(await host.call("driver.shutdown")).toMatchObject({
      error: { data: { class: "invalid_state" } },
    });
    end.resolve();
    await host.toCompletion();
    expect(await host.call("driver.invoke", invokeParams(1))).toMatchObject({
      error: { data: { class: "invalid_request" } },
    });
    await host.invoke(2);
  });

  test("a refused operation uses its id up", async () => {
    const { host } = served({ invoke: idle, capabilities: { operations: ["op"] } });
    await host.prepare();
    await host.call("driver.invoke", invokeParams(1, { operation: "x" }));
    expect(await host.call("driver.invoke", invokeParams(1))).toMatchObject({
      error: { data: { class: "invalid_request" } },
    });
  });

  test("what handlers throw with driver_internal and the message alone, and tells onError", async () => {
    const errors: unknown[] = [];
    const boom = (): never => {
      throw new Error("handler bug");
    };
    const { host } = served({
      invoke: idle,
      prepare: boom,
      onError: (error) => errors.push(error),
    });
    await host.call("driver.hello", HELLO);
    expect((await host.call("driver.prepare", PREPARE)).error).toEqual({
      code: -32603,
      message: "handler bug",
      data: { class: "driver_internal" },
    });
    expect(errors).toMatchObject([{ message: "handler bug" }]);
    // It is as before: prepare is still allowed.
    expect(await host.call("driver.capabilities")).toHaveProperty("result");
  });

  test("requests although onError throws", async () => {
    const boom = (): never => {
      throw new Error("handler bug");
    };
    const { host } = served({ invoke: boom, reset: boom, onError: boom });
    await host.prepare();
    expect(await host.call("driver.reset")).toHaveProperty("error");
    await host.invoke(1);
    expect((await host.toCompletion()).completed).toMatchObject({ status: "errored" });
    expect(await host.call("driver.capabilities")).toHaveProperty("result");
  });

  test("more requests than inFlight with budget_exceeded", async () => {
    const end = held<void>();
    const { host } = served({ invoke: idle, reset: () => end.promise, inFlight: 2 });
    await host.prepare();
    for (const _ of range(1, 3)) host.ask("driver.reset");
    expect(await host.hear()).toMatchObject({ error: { data: { class: "budget_exceeded" } } });
    end.resolve();
    await host.hear();
    await host.hear();
  });

  test("prepare with what the handler accepts, which the invocation sees", async () => {
    const plans: unknown[] = [];
    const seen: unknown[] = [];
    const { host } = served({
      permissions: ["net", "disk"],
      prepare: (plan) => {
        plans.push(plan);
        return ["disk"];
      },
      invoke: ({ permissions }) => void seen.push(permissions),
    });
    await host.call("driver.hello", HELLO);
    const params = { ...PREPARE, approved_permissions: ["net", "disk"] };
    expect(await host.call("driver.prepare", params)).toMatchObject({
      result: { accepted_permissions: ["disk"] },
    });
    await host.invoke(1);
    await host.toCompletion();
    expect(plans).toEqual([params]);
    expect(seen).toEqual([["disk"]]);
  });
});

describe("serveControl() ends", () => {
  test.each<[string, string]>([
    ["a line that is no frame", "hello\n"],
    ["a frame of another version", '{"jsonrpc":"1.0","id":1,"method":"driver.reset"}\n'],
    ["an unknown method", '{"jsonrpc":"2.0","id":1,"method":"driver.nothing"}\n'],
    ["bad params", '{"jsonrpc":"2.0","id":1,"method":"driver.hello","params":{}}\n'],
    [
      "a notification",
      `{"jsonrpc":"2.0","method":"driver.completed","params":{"invocation_id":"${instanceId(1)}","attempt_id":"${instanceId(1)}","status":"errored","summary_digest":"${DIGEST}"}}\n`,
    ],
    ["an answer to nothing", '{"jsonrpc":"2.0","id":1,"result":{}}\n'],
  ])("with a fault of the host's: %s", async (_, line) => {
    const { host, ended } = served({ invoke: idle });
    void host.raw(line);
    await failureOf(ended);
    expect(await host.hear().catch(() => undefined)).toBeUndefined();
  });

  test("at the end of the host's input, and aborts the handler", async () => {
    const reasons: unknown[] = [];
    const { host, ended } = served({
      invoke: async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        reasons.push(signal.reason);
      },
    });
    await host.prepare();
    await host.invoke(1);
    await host.hangUp();
    await ended;
    expect(reasons).toMatchObject([{ code: "connection_closed" }]);
  });

  test("handlerGrace after its host has gone although the handler does not heed its signal", async () => {
    const { host, clock, ended } = served({
      invoke: () => new Promise(() => {}),
      handlerGrace: 300,
    });
    await host.prepare();
    await host.invoke(1);
    await host.hangUp();
    await settle();
    clock.advance(299);
    expect(await settled(ended)).toBe(false);
    clock.advance(1);
    await ended;
  });

  test("with the failure when the host no longer takes its output, and aborts the handler", async () => {
    const failures: unknown[] = [];
    const { host, ended } = served({
      invoke: async ({ observe, signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        failures.push(await failureOf(observe("late")));
      },
    });
    await host.prepare();
    await host.invoke(1);
    await host.refuseInput();
    expect(await failureOf(ended)).toMatchObject({ code: "peer_closed" });
    expect(failures).toMatchObject([{ code: "peer_closed" }]);
  });

  test("after a shutdown, whose handler runs before the answer", async () => {
    const end = held<void>();
    const { host, ended } = served({ invoke: idle, shutdown: () => end.promise });
    await host.prepare();
    host.ask("driver.shutdown");
    expect(await settled(ended)).toBe(false);
    end.resolve();
    expect(await host.hear()).toMatchObject({ result: {} });
    expect(await host.hear()).toBeUndefined();
    await ended;
  });

  test("cleanly when a shutdown and the end of input come together", async () => {
    const { host, ended } = served({ invoke: idle });
    await host.prepare();
    host.ask("driver.shutdown");
    await host.hangUp();
    expect(await host.hear()).toMatchObject({ result: {} });
    await ended;
  });
});

describe("an invocation", () => {
  test("numbers its observations from 1; payload null is a payload, undefined is none", async () => {
    const { host, clock } = served({
      invoke: async ({ observe }) => {
        await observe("a", { payload: null });
        await observe("b", { payload: undefined });
        await observe("c");
        await observe("d", { payload: { z: 1, a: [true, "é"], u: undefined } as never });
      },
    });
    await host.prepare();
    clock.advance(2.5);
    await host.invoke(1);
    const { observations, completed } = await host.toCompletion();
    const ids = { invocation_id: instanceId(1), attempt_id: instanceId(0x1001) };
    const at = { ...ids, monotonic_ns: 2_500_000 };
    expect(observations).toEqual([
      { ...at, sequence: 1, kind: "a", payload: null },
      { ...at, sequence: 2, kind: "b" },
      { ...at, sequence: 3, kind: "c" },
      { ...at, sequence: 4, kind: "d", payload: { a: [true, "é"], z: 1 } },
    ]);
    const summary = new Summary();
    for (const { sequence, kind, payload } of observations)
      summary.observe({ sequence, kind, payload } as never);
    expect(completed).toEqual({
      ...ids,
      status: "completed",
      last_sequence: 4,
      summary_digest: summary.digest(),
    });
  });

  test("without an observation has no last sequence", async () => {
    const { host } = served({ invoke: idle });
    await host.prepare();
    await host.invoke(1);
    expect((await host.toCompletion()).completed).not.toHaveProperty("last_sequence");
  });

  test("goes on after observations that were refused, which take no number", async () => {
    const codes: unknown[] = [];
    const { host } = served({
      invoke: async ({ observe }) => {
        await observe("a");
        for (const [kind, payload] of [
          ["x", Number.NaN],
          ["x", 1n],
          ["x", "\ud800"],
          ["x", "x".repeat(2 ** 20)],
          ["", 1],
        ] as const)
          codes.push(
            ((await failureOf(observe(kind, { payload: payload as never }))) as never)["class"],
          );
        await observe("b");
      },
    });
    await host.prepare();
    await host.invoke(1);
    const { observations, completed } = await host.toCompletion();
    expect(observations).toMatchObject([
      { sequence: 1, kind: "a" },
      { sequence: 2, kind: "b" },
    ]);
    expect(completed).toMatchObject({ last_sequence: 2 });
    expect(codes).toEqual([
      "invalid_request",
      "invalid_request",
      "invalid_request",
      "budget_exceeded",
      "malformed_observation",
    ]);
  });

  test("refuses observations after its end with invocation_ended, also once another runs", async () => {
    let first: Invocation | undefined;
    const { host } = served({
      invoke: async (invocation) => {
        if (first !== undefined)
          expect(await failureOf(first.observe("late"))).toMatchObject({
            code: "invocation_ended",
          });
        first ??= invocation;
        await invocation.observe("mine");
      },
    });
    await host.prepare();
    await host.invoke(1);
    await host.toCompletion();
    expect(await failureOf(first!.observe("late"))).toMatchObject({ code: "invocation_ended" });
    await host.invoke(2);
    expect((await host.toCompletion()).observations).toMatchObject([
      { invocation_id: instanceId(2), kind: "mine" },
    ]);
  });

  test("completes after observations that its handler did not await", async () => {
    const { host } = served({
      invoke: ({ observe }) => {
        for (const n of range(1, 100)) void observe("k", { payload: n });
      },
    });
    await host.prepare();
    await host.invoke(1);
    const { observations, completed } = await host.toCompletion();
    expect(observations.map(({ payload }) => payload)).toEqual(range(1, 100));
    expect(completed).toMatchObject({ last_sequence: 100 });
  });

  test("completes although its handler overfilled the write queue", async () => {
    let refused = 0;
    const { host } = served({
      writeQueueBytes: 10_000,
      invoke: ({ observe }) => {
        for (const _ of range(1, 100))
          // Shorter than the completion: what is refused leaves no room for that either.
          observe("k").catch(() => (refused += 1));
      },
    });
    await host.prepare();
    await host.invoke(1);
    const { observations, completed } = await host.toCompletion();
    expect(observations.length).toBeGreaterThan(3);
    expect(observations.length + refused).toBe(100);
    expect(completed).toMatchObject({ last_sequence: observations.length });
  });

  test("waits in observe() while its host does not read", async () => {
    let sent = 0;
    const { host } = served(
      {
        invoke: async ({ observe }) => {
          for (const n of range(1, 2000)) {
            await observe("k", { payload: "x".repeat(1000) });
            sent = n;
          }
        },
      },
      { highWaterMark: 16 * 1024 },
    );
    await host.prepare();
    await host.invoke(1);
    await settle();
    // 16 KiB in the pipe, up to 64 KiB under way and 64 KiB queued.
    expect(sent).toBeGreaterThan(50);
    expect(sent).toBeLessThan(150);
    const stuck = sent;
    await settle();
    expect(sent).toBe(stuck);
    expect((await host.toCompletion()).observations).toHaveLength(2000);
  });

  test("hears of a cancel although its host does not read", async () => {
    let aborted = false;
    const { host } = served(
      {
        invoke: async ({ observe, signal }) => {
          signal.addEventListener("abort", () => (aborted = true));
          while (!signal.aborted) await observe("k", { payload: "x".repeat(1000) });
        },
      },
      { highWaterMark: 1024 },
    );
    await host.prepare();
    await host.invoke(1);
    await settle();
    host.ask("driver.cancel", { invocation_id: instanceId(1), reason: "r", deadline_millis: 5 });
    await settle();
    expect(aborted).toBe(true);
    let message;
    do message = await host.hear();
    while (message?.method !== "driver.completed");
    expect(message.params).toMatchObject({ status: "cancelled" });
  });

  test("hears of a cancel although its host reads as fast as it writes", async () => {
    let count = 0;
    const { host } = served({
      invoke: async ({ observe, signal }) => {
        for (; !signal.aborted && count < 50_000; count += 1) await observe("k");
      },
    });
    await host.prepare();
    await host.invoke(1);
    const params = { invocation_id: instanceId(1), reason: "r", deadline_millis: 5 };
    setTimeout(() => host.ask("driver.cancel", params), 0);
    let message;
    do message = await host.hear();
    while (message?.method !== "driver.completed");
    expect(message.params).toMatchObject({ status: "cancelled" });
    expect(count).toBeLessThan(50_000);
  });

  const ENDS: readonly (readonly [string, () => unknown, string, string])[] = [
    ["nothing", () => undefined, "completed", "cancelled"],
    ["errored", () => "errored", "errored", "errored"],
    ["completed", () => "completed", "completed", "completed"],
    [
      "a throw",
      () => {
        throw new Error("bug");
      },
      "errored",
      "cancelled",
    ],
    ["a rejection with nothing", () => Promise.reject(undefined), "errored", "cancelled"],
    ["a status that there is not", () => "fine", "errored", "cancelled"],
  ];
  test.each(ENDS)("ends with the status of its handler: %s", async (_, end, plain, cancelled) => {
    const errors: unknown[] = [];
    const go = held<void>();
    const { host } = served({
      onError: (error) => errors.push(error),
      invoke: async ({ operation }) => {
        if (operation === "wait") await go.promise;
        return (await end()) as TerminalStatus;
      },
    });
    await host.prepare();
    await host.invoke(1);
    expect((await host.toCompletion()).completed).toMatchObject({ status: plain });
    expect(errors).toHaveLength(plain === "errored" && _ !== "errored" ? 1 : 0);
    await host.invoke(2, { operation: "wait" });
    expect(
      await host.call("driver.cancel", {
        invocation_id: instanceId(2),
        reason: "enough",
        deadline_millis: 5,
      }),
    ).toMatchObject({ result: { acknowledged: true } });
    go.resolve();
    expect((await host.toCompletion()).completed).toMatchObject({ status: cancelled });
  });

  test("gets the reason of a cancel through its signal", async () => {
    const reasons: Error[] = [];
    const { host } = served({
      invoke: async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        reasons.push(signal.reason as Error);
      },
    });
    await host.prepare();
    await host.invoke(1);
    const params = { invocation_id: instanceId(1), reason: "enough", deadline_millis: 5 };
    await host.call("driver.cancel", params);
    await host.toCompletion();
    expect(reasons).toMatchObject([{ code: "cancelled" }]);
    expect(reasons[0]!.message).toContain("enough");
    // After the end a cancel is out of place.
    expect(await host.call("driver.cancel", params)).toMatchObject({
      error: { data: { class: "invalid_state" } },
    });
  });

  test("is not touched by a cancel that names another", async () => {
    const end = held<void>();
    const { host } = served({ invoke: () => end.promise });
    await host.prepare();
    await host.invoke(1);
    const params = { invocation_id: instanceId(2), reason: "r", deadline_millis: 5 };
    expect(await host.call("driver.cancel", params)).toMatchObject({
      error: { data: { class: "invalid_request" } },
    });
    end.resolve();
    expect((await host.toCompletion()).completed).toMatchObject({ status: "completed" });
  });

  test("opens its input when it is first read, and cancels what is left of it", async () => {
    const opened: unknown[] = [];
    let cancelled = 0;
    const { host } = served({
      openInput: (handle) => {
        opened.push(handle);
        return new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array([1])),
          cancel: () => void (cancelled += 1),
        });
      },
      invoke: async ({ input, operation }) => {
        if (operation !== "read") return;
        const reader = input.getReader();
        await reader.read();
        reader.releaseLock();
      },
    });
    await host.prepare();
    await host.invoke(1, { operation: "read" });
    await host.toCompletion();
    await settle();
    expect(opened).toEqual([{ kind: "pipe", value: "/dev/null" }]);
    expect(cancelled).toBe(1);
  });

  test("is told through its input that it cannot be opened", async () => {
    const failures: unknown[] = [];
    const { host } = served({
      invoke: async ({ input }) => void failures.push(await failureOf(input.getReader().read())),
    });
    await host.prepare();
    await host.invoke(1);
    await host.toCompletion();
    expect(failures).toMatchObject([{ code: "input_unsupported" }]);
  });
});
