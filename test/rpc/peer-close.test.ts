import { expect, test } from "vitest";
import { SluiceError } from "../../lib/errors.ts";
import { jsonRpc, Peer } from "../../lib/rpc/mod.ts";
import { duplexPair } from "../../lib/streams/duplex-pair.ts";
import { VirtualClock } from "../../lib/testing/virtual-clock.ts";
import { failureOf, settle, withScript } from "./scripted-peer.ts";

test("Peer.end() rejects all that waits at once, cancels and aborts both streams", async () => {
  const [mine, theirs] = duplexPair();
  const clock = new VirtualClock();
  const peer = new Peer(mine, { codec: jsonRpc(), clock });
  const call = peer.request("m", ["x".repeat(500_000)]);
  const write = peer.notify("n");
  await settle();
  const reason = new SluiceError("driver_killed", "Killed");
  peer.end(reason);
  peer.end(new SluiceError("second", "Second"));
  expect(await failureOf(call)).toBe(reason);
  expect(await failureOf(write)).toBe(reason);
  expect(await peer.closed).toBe(reason);
  expect(await failureOf(peer.request("later"))).toBe(reason);
  expect(await peer.close()).toBe(reason);
  expect(clock.pending).toBe(0);
  await expect(theirs.readable.getReader().read()).rejects.toBe(reason);
  await expect(theirs.writable.getWriter().closed).rejects.toMatchObject({ code: "peer_closed" });
});

test("Peer.end() leaves no unhandled rejection when nobody looks at anything", async () => {
  const { peer, other } = withScript({
    methods: { hang: { handler: () => new Promise(() => {}) } },
  });
  void peer.request("a");
  void peer.notify("b");
  void peer.closeWrite();
  void peer.notify("c");
  other.say({ id: 1, method: "hang" });
  await settle();
  peer.end(new SluiceError("test", "Test"));
  void peer.request("d");
  void peer.send({ jsonrpc: "2.0", id: 1, result: 1 });
  void peer.closeWrite();
  await settle();
});

test("Peer leaves a call that its observer ended unsettled by nothing", async () => {
  const reason = new SluiceError("test", "Test");
  const { peer } = withScript({ observe: () => peer.end(reason) });
  expect(await failureOf(peer.request("m"))).toBe(reason);
  expect(peer.waiting).toBe(0);
});

test("Peer.close() writes what is queued, closes, and resolves closed with undefined", async () => {
  const { peer, other, clock } = withScript();
  const call = peer.request("m");
  void peer.notify("n");
  expect(await peer.close()).toBeUndefined();
  expect(await peer.closed).toBeUndefined();
  expect(await failureOf(call)).toMatchObject({
    code: "connection_closed",
    message: 'This side closed the connection while 1 call waited: "m"',
  });
  expect(await failureOf(peer.request("later"))).toMatchObject({ code: "connection_closed" });
  expect([(await other.hear())?.method, (await other.hear())?.method]).toEqual(["m", "n"]);
  expect(await other.hear()).toBeUndefined();
  expect(clock.pending).toBe(0);
});

test("Peer.close() ends cleanly although the other side has gone or goes meanwhile", async () => {
  const gone = withScript();
  await gone.other.refuseInput();
  expect(await gone.peer.close()).toBeUndefined();

  const going = withScript();
  void going.peer.notify("big", ["x".repeat(500_000)]);
  const closing = going.peer.close();
  await going.other.hangUp();
  await settle();
  going.clock.advance(1000);
  expect(await closing).toBeUndefined();
});

test("Peer.end() cuts a close() short that waits for a side that does not read", async () => {
  const { peer } = withScript();
  void peer.notify("big", ["x".repeat(500_000)]);
  const closing = peer.close();
  await settle();
  const reason = new SluiceError("test", "Test");
  peer.end(reason);
  expect(await closing).toBe(reason);
});

test("Peer.closeWrite() half-closes: answers still come, new calls are refused", async () => {
  const { peer, other } = withScript();
  const call = peer.request("m");
  await peer.closeWrite();
  expect((await other.hear())?.method).toBe("m");
  expect(await other.hear()).toBeUndefined();
  expect(await failureOf(peer.request("later"))).toMatchObject({ code: "write_closed" });
  expect(await failureOf(peer.notify("later"))).toMatchObject({ code: "write_closed" });
  other.say({ id: 1, result: "answer" });
  expect(await call).toBe("answer");
  await other.hangUp();
  expect(await peer.closed).toMatchObject({ code: "connection_closed" });
});

test("two Peers: one asks, half-closes and gets every answer", async () => {
  const [left, right] = duplexPair();
  const one = new Peer(left, { codec: jsonRpc() });
  const two = new Peer(right, {
    codec: jsonRpc(),
    methods: {
      double: {
        async handler(params) {
          await Promise.resolve();
          return (params as number[]).map((each) => each * 2);
        },
      },
    },
  });
  const calls = Array.from({ length: 50 }, (_, k) => one.request("double", [k]));
  await one.closeWrite();
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 50 }, (_, k) => [k * 2]));
  expect(await two.closed).toMatchObject({ code: "connection_closed" });
  expect(await one.closed).toMatchObject({ code: "connection_closed" });
});

test("Peer refuses limits out of range", () => {
  const bad = [
    { inFlight: 0 },
    { tombstones: 1.5 },
    { writeQueueBytes: -1 },
    { requestTimeout: -1 },
    { answerGrace: NaN },
  ];
  for (const options of bad) expect(() => withScript(options)).toThrow(RangeError);
});
