import * as fc from "fast-check";
import { expect, test } from "vitest";
import { PendingTable, RemoteError } from "../../lib/rpc/mod.ts";
import type { RpcId } from "../../lib/rpc/mod.ts";
import { VirtualClock } from "../../lib/testing/virtual-clock.ts";
import { countListeners, failureOf } from "./scripted-peer.ts";

const result = (id: RpcId | null, value: unknown = null) =>
  ({ jsonrpc: "2.0", id, result: value }) as { jsonrpc: string; id: RpcId; result: null };
const failed = (id: RpcId) => ({
  jsonrpc: "2.0",
  id,
  error: { code: 5, message: "no", data: [1] },
});

function table(tombstones?: number) {
  const clock = new VirtualClock();
  return { clock, pending: new PendingTable({ clock, ...(tombstones ? { tombstones } : {}) }) };
}

test("PendingTable settles a call once; a second answer is unknown", async () => {
  const { pending } = table();
  const call = pending.add(1, { method: "m" });
  expect(pending.settle(result(1, 7))).toBe("settled");
  expect(await call).toBe(7);
  expect(pending.settle(result(1, 8))).toBe("unknown");
  expect(pending.size).toBe(0);
});

test("PendingTable rejects with a RemoteError that keeps the peer's error", async () => {
  const { pending } = table();
  const call = pending.add("a", { method: "m" });
  pending.settle(failed("a"));
  const thrown = await failureOf(call);
  expect(thrown).toBeInstanceOf(RemoteError);
  expect(thrown).toMatchObject({
    name: "RemoteError",
    code: "remote_error",
    message: 'The peer answered "m" with error 5: no',
    data: { rpcCode: 5, method: "m", data: [1] },
    error: { code: 5, message: "no", data: [1] },
  });
});

test("PendingTable matches ids only with their type", () => {
  const { pending } = table();
  void pending.add(1, { method: "m" });
  void pending.add("", { method: "m" });
  expect(pending.settle(result("1"))).toBe("unknown");
  expect(pending.settle(result(0))).toBe("unknown");
  expect(pending.settle(result(null))).toBe("unknown");
  expect(pending.size).toBe(2);
  expect(pending.settle(result(1))).toBe("settled");
  expect(pending.settle(result(""))).toBe("settled");
});

test("PendingTable rejects a call at its timeout, and drops one late answer", async () => {
  const { pending, clock } = table();
  const call = pending.add(1, { method: "slow", timeout: 200 });
  clock.advance(199);
  expect(pending.size).toBe(1);
  clock.advance(1);
  expect(await failureOf(call)).toMatchObject({
    code: "request_timeout",
    data: { method: "slow", id: 1, timeout: 200 },
  });
  expect(pending.settle(failed(1))).toBe("tombstone");
  expect(pending.dropped).toBe(1);
  expect(pending.settle(result(1))).toBe("unknown");
});

test("PendingTable sets no timer for a timeout of 0", () => {
  const { pending, clock } = table();
  void pending.add(1, { method: "m", timeout: 0 });
  void pending.add(2, { method: "m" });
  expect(clock.pending).toBe(0);
});

test("PendingTable rejects at once on abort, with the reason as the cause", async () => {
  const { pending, clock } = table();
  const controller = new AbortController();
  const call = pending.add(1, { method: "m", timeout: 50, signal: controller.signal });
  const reason = new Error("enough");
  controller.abort(reason);
  expect(clock.pending).toBe(0);
  expect(await failureOf(call)).toMatchObject({ code: "aborted", cause: reason });
  expect(pending.settle(result(1))).toBe("tombstone");
});

test("PendingTable rejects a call whose signal has aborted before", async () => {
  const { pending } = table();
  const call = pending.add(1, { method: "m", signal: AbortSignal.abort("why") });
  expect(await failureOf(call)).toMatchObject({ code: "aborted", cause: "why" });
  expect(pending.size).toBe(0);
});

test("PendingTable keeps a bounded count of tombstones, the latest ones", () => {
  const { pending, clock } = table(3);
  for (let id = 0; id < 10; id += 1) pending.add(id, { method: "m", timeout: 1 }).catch(() => {});
  clock.advance(1);
  expect(pending.settle(result(6))).toBe("unknown");
  expect([7, 8, 9].map((id) => pending.settle(result(id)))).toEqual(Array(3).fill("tombstone"));
});

test("PendingTable refuses an id in use, also of a call just given up", () => {
  const { pending } = table();
  const call = pending.add(1, { method: "m" });
  call.catch(() => {});
  expect(() => pending.add(1, { method: "m" })).toThrow(RangeError);
  pending.fail(1, new Error("gone"));
  expect(() => pending.add(1, { method: "m" })).toThrow(RangeError);
  void pending.add("1", { method: "m" });
});

test("PendingTable names the methods of waiting calls, bounded", () => {
  const { pending } = table();
  expect(pending.outstanding()).toBe("");
  void pending.add(1, { method: "a" });
  void pending.add(2, { method: "b" });
  void pending.add(3, { method: "a" });
  expect(pending.outstanding()).toBe('"a" (2), "b"');
  for (let id = 10; id < 100; id += 1) void pending.add(id, { method: `${id}`.repeat(1000) });
  expect(pending.outstanding()).toMatch(/ and 84 more methods$/u);
  expect(pending.outstanding().length).toBeLessThan(1000);
});

test("PendingTable leaves no listener after 10 000 calls on one AbortSignal", async () => {
  const { pending, clock } = table();
  const controller = new AbortController();
  const listeners = countListeners(controller.signal);
  const calls: Promise<unknown>[] = [];
  for (let id = 0; id < 10_000; id += 1) {
    const call = pending.add(id, { method: "m", timeout: 1000, signal: controller.signal });
    calls.push(call.catch(() => {}));
    if (id % 4 === 0) pending.settle(result(id));
    else if (id % 4 === 1) pending.settle(failed(id));
    else if (id % 4 === 2) pending.fail(id, new Error("given up"));
  }
  expect(listeners()).toBe(2500);
  clock.advance(999);
  expect(listeners()).toBe(2500);
  clock.advance(1);
  expect(listeners()).toBe(0);
  expect(clock.pending).toBe(0);
  await Promise.all(calls);
});

test("PendingTable rejects every call with the same reason, in order", async () => {
  const { pending, clock } = table();
  const seen: number[] = [];
  const reason = new Error("gone");
  const calls = [1, 2, 3].map((id) =>
    pending.add(id, { method: "m", timeout: 9 }).catch((thrown: unknown) => {
      expect(thrown).toBe(reason);
      seen.push(id);
    }),
  );
  pending.rejectAll(reason);
  await Promise.all(calls);
  expect(seen).toEqual([1, 2, 3]);
  expect(clock.pending).toBe(0);
});

test("PendingTable settles each call exactly once under any interleaving", async () => {
  type Step = { kind: "add" | "answer" | "abort" | "advance"; k: number };
  const step = fc.record<Step>({
    kind: fc.constantFrom("add", "answer", "abort", "advance"),
    k: fc.integer({ min: 0, max: 9 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { pending, clock } = table();
      /** The model: what each id should have come to. */
      const state = new Map<number, { due: number; end?: string; told: boolean }>();
      const ends = new Map<number, string[]>();
      const controllers: AbortController[] = [];
      for (const { kind, k } of steps) {
        if (kind === "add") {
          const id = state.size;
          const controller = new AbortController();
          controllers.push(controller);
          state.set(id, { due: clock.now() + k * 10, told: false });
          const log: string[] = [];
          ends.set(id, log);
          pending.add(id, { method: "m", timeout: k * 10, signal: controller.signal }).then(
            () => log.push("result"),
            (thrown: { code: string }) => log.push(thrown.code),
          );
          if (k === 0) state.get(id)!.due = Infinity;
        } else if (kind === "answer") {
          const entry = state.get(k);
          const expected = entry === undefined ? "unknown" : settlementOf(entry);
          expect(pending.settle(result(k))).toBe(expected);
          if (entry !== undefined) Object.assign(entry, { end: entry.end ?? "result", told: true });
        } else if (kind === "abort") {
          controllers[k]?.abort();
          const entry = state.get(k);
          if (entry !== undefined) entry.end ??= "aborted";
        } else {
          clock.advance(k * 5);
          for (const entry of state.values()) {
            if (entry.due <= clock.now()) entry.end ??= "request_timeout";
          }
        }
      }
      pending.rejectAll({ code: "end" });
      await Promise.resolve();
      for (const [id, entry] of state) expect(ends.get(id)).toEqual([entry.end ?? "end"]);
      expect([pending.size, clock.pending]).toEqual([0, 0]);
    }),
    { numRuns: 300 },
  );

  function settlementOf(entry: { end?: string; told: boolean }): string {
    if (entry.told) return "unknown";
    return entry.end === undefined ? "settled" : "tombstone";
  }
});
