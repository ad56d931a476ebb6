import { expect, test } from "vitest";
import { SluiceError } from "../../lib/errors.ts";
import { failureOf, settle, withScript } from "./scripted-peer.ts";

test("Peer rejects waiting calls when the other side hangs up, and names their methods", async () => {
  const { peer, other, clock } = withScript();
  const calls = [peer.request("a"), peer.request("b"), peer.request("a")];
  await other.hangUp();
  for (const call of calls) {
    expect(await failureOf(call)).toMatchObject({
      code: "connection_closed",
      message: 'The peer closed the connection while 3 calls waited: "a" (2), "b"',
      data: { waiting: 3 },
    });
  }
  expect(await peer.closed).toMatchObject({ code: "connection_closed" });
  expect([peer.waiting, clock.pending]).toEqual([0, 0]);
});

test("Peer rejects with what endReason makes of the end, once it answers", async () => {
  const exit = Promise.withResolvers<SluiceError>();
  const asked: SluiceError[] = [];
  const { peer, other } = withScript({
    endReason(reason) {
      asked.push(reason);
      return exit.promise;
    },
  });
  const call = peer.request("m");
  let settled = false;
  call.then(
    () => {},
    () => (settled = true),
  );
  await other.hangUp();
  await settle();
  expect(settled).toBe(false);
  const during = peer.request("during");
  const reason = new SluiceError("driver_exited", "The driver exited with code 3");
  exit.resolve(reason);
  expect(await failureOf(call)).toBe(reason);
  expect(await failureOf(during)).toBe(reason);
  expect(await failureOf(peer.request("after"))).toBe(reason);
  expect(await failureOf(peer.notify("after"))).toBe(reason);
  expect(await peer.closed).toBe(reason);
  expect(asked).toHaveLength(1);
});

test("Peer keeps its own reason when endReason throws", async () => {
  const { peer, other } = withScript({
    endReason() {
      throw new Error("broken");
    },
  });
  await other.hangUp();
  expect(await peer.closed).toMatchObject({ code: "connection_closed" });
});

test("Peer rejects waiting calls when reading breaks, and keeps the cause", async () => {
  const { peer, other } = withScript();
  const call = peer.request("m");
  const cause = new Error("ECONNRESET");
  await other.breakDown(cause);
  expect(await failureOf(call)).toMatchObject({
    code: "connection_closed",
    message: 'Reading from the peer failed while 1 call waited: "m"',
    cause,
  });
  await peer.closed;
});

test("Peer hands on a last message without a line feed", async () => {
  const { peer, other } = withScript();
  const call = peer.request("m");
  other.raw('{"jsonrpc":"2.0","id":1,"result":"last"}');
  await other.hangUp();
  expect(await call).toBe("last");
  await peer.closed;
});

test("Peer reports a cut last message and gives it as the cause of the end", async () => {
  const faults: SluiceError[] = [];
  const { peer, other } = withScript({ fault: (fault) => void faults.push(fault) });
  other.raw('{"jsonrpc":"2.0","id":1,"resu');
  await other.hangUp();
  expect(await peer.closed).toMatchObject({
    code: "connection_closed",
    cause: { code: "syntax" },
  });
  expect(faults).toMatchObject([{ code: "syntax" }]);
});

test("Peer lets handlers answer after the other side has closed its half", async () => {
  const gate = Promise.withResolvers<string>();
  const { peer, other, clock } = withScript({
    methods: { work: { handler: () => gate.promise } },
  });
  other.say({ id: 1, method: "work" });
  await other.hangUp();
  await settle();
  gate.resolve("done");
  expect(await other.hear()).toEqual({ jsonrpc: "2.0", id: 1, result: "done" });
  expect(await other.hear()).toBeUndefined();
  expect(await peer.closed).toMatchObject({ code: "connection_closed" });
  expect(clock.pending).toBe(0);
});

test("Peer aborts handlers that take longer than answerGrace", async () => {
  let signal: AbortSignal | undefined;
  const { peer, other, clock } = withScript({
    answerGrace: 500,
    methods: {
      hang: {
        handler(_params, context) {
          signal = context.signal;
          return new Promise(() => {});
        },
      },
    },
  });
  other.say({ id: 1, method: "hang" });
  await other.hangUp();
  await settle();
  clock.advance(499);
  await settle();
  expect(signal?.aborted).toBe(false);
  clock.advance(1);
  expect(await peer.closed).toMatchObject({ code: "connection_closed" });
  expect(signal?.aborted).toBe(true);
  expect(clock.pending).toBe(0);
});

test("Peer rejects a call that cannot be written, with what endReason says", async () => {
  const reasons: SluiceError[] = [];
  const faults: SluiceError[] = [];
  const { peer, other } = withScript({
    fault: (fault) => void faults.push(fault),
    endReason(reason) {
      reasons.push(reason);
      return new SluiceError("driver_exited", "The driver exited", { cause: reason });
    },
  });
  await other.refuseInput();
  expect(await failureOf(peer.request("a"))).toMatchObject({ code: "driver_exited" });
  expect(await failureOf(peer.request("b"))).toMatchObject({ code: "driver_exited" });
  expect(reasons).toHaveLength(1);
  expect(faults).toHaveLength(1);
  expect(await failureOf(peer.notify("c"))).toBe(faults[0]);
  expect(peer.waiting).toBe(0);
  peer.end(new SluiceError("test", "Test"));
});

test("Peer rejects writes that hang when the other side goes, and calls with what endReason says", async () => {
  const exited = new SluiceError("driver_exited", "The driver exited");
  const { peer, other } = withScript({ endReason: () => exited });
  const stuck = peer.notify("big", ["x".repeat(800_000)]);
  const call = peer.request("behind");
  await settle();
  await other.refuseInput();
  expect(await failureOf(stuck)).toMatchObject({ code: "peer_closed" });
  expect(await failureOf(call)).toBe(exited);
  peer.end(new SluiceError("test", "Test"));
});

test("Peer goes on reading after a failure to write", async () => {
  const seen: string[] = [];
  const { peer, other } = withScript({
    onNotification: (message) => void seen.push(String(message.method)),
  });
  await other.refuseInput();
  await failureOf(peer.notify("lost"));
  other.say({ method: "a" }, { id: 5, method: "unanswerable" }, { method: "b" });
  await settle();
  expect(seen).toEqual(["a", "b"]);
  await other.hangUp();
  expect(await peer.closed).toMatchObject({ code: "connection_closed" });
});
