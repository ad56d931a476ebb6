import { expect, test } from "vitest";
import { SluiceError } from "../../lib/errors.ts";
import { RemoteError } from "../../lib/rpc/mod.ts";
import { countListeners, failureOf, settle, withScript } from "./scripted-peer.ts";

test("Peer sends a request and settles it with the answer", async () => {
  const { peer, other, clock } = withScript();
  const call = peer.request("sum", { a: 1 });
  expect(peer.waiting).toBe(1);
  expect(await other.hear()).toEqual({ jsonrpc: "2.0", id: 1, method: "sum", params: { a: 1 } });
  other.say({ id: 1, result: 3 });
  expect(await call).toBe(3);
  expect([peer.waiting, clock.pending]).toEqual([0, 0]);
  await peer.close();
});

test("Peer gives ids in turn, or those of nextId", async () => {
  const { peer, other } = withScript();
  void peer.request("a");
  void peer.request("b");
  expect([(await other.hear())?.id, (await other.hear())?.id]).toEqual([1, 2]);
  peer.end(new SluiceError("test", "Test"));

  const named = withScript({ nextId: () => "same" });
  void named.peer.request("a");
  expect((await named.other.hear())?.id).toBe("same");
  expect(await failureOf(named.peer.request("b"))).toBeInstanceOf(RangeError);
  named.peer.end(new SluiceError("test", "Test"));
});

test("Peer settles no call by an id of another type, or by one it never gave", async () => {
  for (const id of ["1", 0, "", -1, 99]) {
    const faults: SluiceError[] = [];
    const { peer, other } = withScript({
      onFault: "report",
      fault: (fault) => faults.push(fault),
    });
    const call = peer.request("m");
    other.say({ id, result: "wrong" }, { id: 1, result: "right" });
    expect(await call).toBe("right");
    expect(faults.map((fault) => fault.code)).toEqual(["unknown_response"]);
    await peer.close();
  }
});

test("Peer ends at an unknown answer by default, and waiting calls reject with the fault", async () => {
  const { peer, other } = withScript();
  const call = peer.request("m");
  other.say({ id: "1", result: 1 });
  const fault = await failureOf(call);
  expect(fault).toMatchObject({
    code: "unknown_response",
    message: expect.stringContaining('its id is the string "1"'),
  });
  expect(await peer.closed).toBe(fault);
});

test("Peer takes a second answer to one call as a fault", async () => {
  const { peer, other } = withScript();
  const call = peer.request("m");
  other.say({ id: 1, result: "first" }, { id: 1, result: "second" });
  expect(await call).toBe("first");
  expect(await peer.closed).toMatchObject({ code: "unknown_response" });
});

test("Peer rejects a call with the other side's error", async () => {
  const { peer, other } = withScript();
  const call = peer.request("m");
  other.say({ id: 1, error: { code: -32601, message: "no such method" } });
  const thrown = await failureOf(call);
  expect(thrown).toBeInstanceOf(RemoteError);
  expect(thrown).toMatchObject({ code: "remote_error", data: { rpcCode: -32601, method: "m" } });
  await peer.close();
});

test("Peer rejects a silent call at its timeout, and drops the late answer quietly", async () => {
  const { peer, other, clock } = withScript();
  const call = peer.request("slow", undefined, { timeout: 200 });
  const other2 = peer.request("slower");
  clock.advance(200);
  expect(await failureOf(call)).toMatchObject({
    code: "request_timeout",
    data: { method: "slow", id: 1, timeout: 200 },
  });
  other.say({ id: 1, error: { code: 1, message: "late" } }, { id: 2, result: 2 });
  expect(await other2).toBe(2);
  expect(peer.dropped).toBe(1);
  await peer.close();
});

test("Peer uses requestTimeout, 30 s when left out, and none for 0", async () => {
  const { peer, clock } = withScript();
  const call = peer.request("m");
  void peer.request("forever", undefined, { timeout: 0 });
  clock.advance(29_999);
  expect(peer.waiting).toBe(2);
  clock.advance(1);
  expect(await failureOf(call)).toMatchObject({ code: "request_timeout" });
  expect([peer.waiting, clock.pending]).toEqual([1, 0]);
  await peer.close();
});

test("Peer refuses a timeout that is no time", async () => {
  const { peer } = withScript();
  for (const timeout of [-1, NaN, Infinity]) {
    expect(await failureOf(peer.request("m", undefined, { timeout }))).toBeInstanceOf(RangeError);
  }
  await peer.close();
});

test("Peer rejects at once on abort, and drops the late answer quietly", async () => {
  const { peer, other } = withScript();
  const controller = new AbortController();
  const call = peer.request("m", undefined, { signal: controller.signal });
  await other.hear();
  const reason = new Error("enough");
  controller.abort(reason);
  expect(await failureOf(call)).toMatchObject({ code: "aborted", cause: reason });
  const next = peer.request("next");
  other.say({ id: 1, result: "late" }, { id: 2, result: "fine" });
  expect(await next).toBe("fine");
  expect(peer.dropped).toBe(1);
  await peer.close();
});

test("Peer sends nothing for a signal that has aborted before", async () => {
  const { peer, other } = withScript();
  const call = peer.request("m", undefined, { signal: AbortSignal.abort("why") });
  expect(await failureOf(call)).toMatchObject({ code: "aborted", cause: "why" });
  await peer.close();
  expect(await other.hear()).toBeUndefined();
});

test("Peer refuses calls over inFlight at once", async () => {
  const { peer, other } = withScript({ inFlight: 2 });
  const calls = [peer.request("a"), peer.request("b")];
  expect(await failureOf(peer.request("c"))).toMatchObject({
    code: "too_many_requests",
    data: { method: "c", inFlight: 2 },
  });
  other.say({ id: 1, result: 1 }, { id: 2, result: 2 });
  expect(await Promise.all(calls)).toEqual([1, 2]);
  await peer.close();
});

test("Peer rejects a call that the codec or the observer refuses, and writes nothing", async () => {
  const refused = new Error("not now");
  const { peer, other } = withScript({
    observe(message) {
      if (message.method === "forbidden") throw refused;
    },
  });
  expect(await failureOf(peer.request("m", [NaN]))).toMatchObject({ code: "unencodable" });
  expect(await failureOf(peer.request("m", 3))).toMatchObject({ code: "invalid_message" });
  expect(await failureOf(peer.request("forbidden"))).toBe(refused);
  expect(await failureOf(peer.notify("forbidden"))).toBe(refused);
  expect(peer.waiting).toBe(0);
  await peer.notify("allowed");
  expect(await other.hear()).toEqual({ jsonrpc: "2.0", method: "allowed" });
  await peer.close();
});

test("Peer shows the observer every message in both directions, before it is dispatched or written", async () => {
  const log: string[] = [];
  const { peer, other } = withScript({
    observe: (message, direction) =>
      void log.push(`${direction} ${message.method ?? JSON.stringify(message.result)}`),
    onNotification: (message) => void log.push(`notified ${message.method}`),
  });
  const call = peer.request("ask").then((value) => log.push(`got ${JSON.stringify(value)}`));
  other.say({ id: 1, result: "r" }, { method: "n" });
  await call;
  await settle();
  expect(log).toEqual(["out ask", 'in "r"', 'got "r"', "in n", "notified n"]);
  await peer.close();
});

test("Peer rejects a call at once that does not fit the write queue, and does not move the observer", async () => {
  const seen: string[] = [];
  const { peer, other } = withScript({
    writeQueueBytes: 200_000,
    observe: (message) => void seen.push(String(message.method)),
  });
  const big = "x".repeat(90_000);
  // Nobody reads on the other side: the first waits in the pipe, the second in the queue.
  void peer.request("one", [big]);
  await settle();
  void peer.request("two", [big]);
  expect(await failureOf(peer.request("three", [big]))).toMatchObject({
    code: "write_queue_full",
  });
  expect(await failureOf(peer.notify("four", [big]))).toMatchObject({ code: "write_queue_full" });
  expect(seen).toEqual(["one", "two"]);
  expect(peer.waiting).toBe(2);
  expect([(await other.hear())?.method, (await other.hear())?.method]).toEqual(["one", "two"]);
  peer.end(new SluiceError("test", "Test"));
});

test("Peer reads answers while its own writes are stuck", async () => {
  const { peer, other } = withScript();
  const call = peer.request("small");
  await other.hear();
  const stuck = peer.notify("big", ["x".repeat(900_000)]);
  let written = false;
  stuck.then(
    () => (written = true),
    () => {},
  );
  other.say({ id: 1, result: "answer" });
  expect(await call).toBe("answer");
  expect(written).toBe(false);
  peer.end(new SluiceError("test", "Test"));
  expect(await failureOf(stuck)).toMatchObject({ code: "test" });
});

test("Peer reports an error without an id as peer_error, and settles nothing by it", async () => {
  const faults: SluiceError[] = [];
  const { peer, other } = withScript({ fault: (fault) => faults.push(fault) });
  const call = peer.request("m");
  other.say({ id: null, error: { code: -32700, message: "Parse error" } }, { id: 1, result: 1 });
  expect(await call).toBe(1);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toBeInstanceOf(RemoteError);
  expect(faults[0]).toMatchObject({
    code: "peer_error",
    message: "The peer reported error -32700: Parse error",
    data: { rpcCode: -32700 },
  });
  await peer.close();
});

test("Peer leaves no timer and no listener behind after a call", async () => {
  const { peer, other, clock } = withScript();
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = countListeners(signal);
  for (let id = 1; id <= 200; id += 1) {
    const call = peer.request("m", undefined, { signal });
    other.say({ id, result: id });
    expect(await call).toBe(id);
  }
  expect([listeners(), clock.pending]).toEqual([0, 0]);
  await peer.close();
});
