import { expect, test } from "vitest";
import { SluiceError } from "../../lib/errors.ts";
import type { PeerOptions } from "../../lib/rpc/mod.ts";
import { settle, withScript } from "./scripted-peer.ts";

function watched(options: Partial<PeerOptions> = {}) {
  const faults: SluiceError[] = [];
  const notified: string[] = [];
  return {
    faults,
    notified,
    ...withScript({
      fault: (fault) => void faults.push(fault),
      onNotification: (message) => void notified.push(String(message.method)),
      ...options,
    }),
  };
}

test("Peer reports a fault and ends with it by default, handing on nothing after", async () => {
  const { peer, other, faults, notified } = watched();
  const good = '{"jsonrpc":"2.0","method":"good"}\n';
  other.raw(`${good}hello\n${good}`);
  const reason = await peer.closed;
  expect(reason).toMatchObject({ code: "syntax" });
  expect([faults, notified]).toEqual([[reason], ["good"]]);
});

test("Peer goes on after a fault with onFault: report", async () => {
  const { peer, other, faults, notified } = watched({ onFault: "report" });
  other.raw('hello\n{"jsonrpc":"2.0","method":"a"}\n{}\n{"jsonrpc":"2.0","method":"b"}\n[1]\n');
  await settle();
  expect(faults.map((fault) => fault.code)).toEqual(["syntax", "invalid_message", "batch_refused"]);
  expect(notified).toEqual(["a", "b"]);
  await peer.close();
});

test("Peer takes what the observer throws for an incoming message as a fault in its place", async () => {
  const coded = new SluiceError("invalid_state", "Not now");
  const { peer, other, faults, notified } = watched({
    onFault: "report",
    observe(message, direction) {
      if (direction === "in" && message.method === "bad") throw coded;
      if (direction === "in" && message.method === "worse") throw new Error("plain");
    },
  });
  const call = peer.request("m");
  other.say(
    { method: "a" },
    { method: "bad" },
    { method: "worse" },
    { method: "b" },
    { id: 1, result: 1 },
  );
  await call;
  expect(faults[0]).toBe(coded);
  expect(faults[1]).toMatchObject({ code: "message_refused", cause: { message: "plain" } });
  expect(notified).toEqual(["a", "b"]);
  await peer.close();
});

test("Peer takes what onNotification throws or rejects with as a fault", async () => {
  const { peer, other, faults } = watched({
    onFault: "report",
    onNotification(message) {
      if (message.method === "throw") throw new Error("thrown");
      return Promise.reject(new Error("rejected")) as never;
    },
  });
  other.say({ method: "throw" }, { method: "reject" });
  await settle();
  expect(faults).toMatchObject([
    { code: "notification_failed", cause: { message: "thrown" } },
    { code: "notification_failed", cause: { message: "rejected" } },
  ]);
  await peer.close();
});

test("Peer ends when the fault callback throws", async () => {
  const { peer, other } = watched({
    onFault: "report",
    fault() {
      throw new Error("broken callback");
    },
  });
  other.raw("x\n");
  expect(await peer.closed).toMatchObject({ code: "fault_callback_failed" });
});

test("Peer hands on nothing after an end from a callback", async () => {
  const seen: string[] = [];
  const reason = new SluiceError("test", "Test");
  const { peer, other } = withScript({
    onNotification(message) {
      seen.push(String(message.method));
      peer.end(reason);
    },
  });
  other.say({ method: "a" }, { method: "b" });
  expect(await peer.closed).toBe(reason);
  await settle();
  expect(seen).toEqual(["a"]);
});
