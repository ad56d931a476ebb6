import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SluiceError } from "../../lib/errors.ts";

import { settle, withScript } from "./scripted-peer.ts";

test("Peer keeps [n1, response, n2] of one chunk in wire order for code that awaits the call", async () => {
  const log: string[] = [];
  const { peer, other } = withScript({
    onNotification: (message) => void log.push(String(message.method)),
  });
  const deep = async (): Promise<unknown> => peer.request("m");
  const deeper = async (): Promise<unknown> => {
    const value = await deep();
    return value;
  };
  const direct = peer.request("m").then(() => log.push("response 1"));
  const wrapped = (async () => {
    await deeper();
    log.push("response 2");
  })();
  other.say(
    { method: "n1" },
    { id: 1, result: 1 },
    { method: "n2" },
    { id: 2, result: 2 },
    { method: "n3" },
  );
  await Promise.all([direct, wrapped]);
  await settle();
  expect(log).toEqual(["n1", "response 1", "n2", "response 2", "n3"]);
  await peer.close();
});

test("Peer keeps the order when every byte is a chunk", async () => {
  const log: string[] = [];
  const { peer, other } = withScript({
    onNotification: (message) => void log.push(String(message.method)),
  });
  const call = peer.request("m").then(() => log.push("response"));
  const text = [{ method: "n1" }, { id: 1, result: "é" }, { method: "n2" }]
    .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    .join("");
  for (const byte of text) other.raw(byte);
  await call;
  await settle();
  expect(log).toEqual(["n1", "response", "n2"]);
  await peer.close();
});

test("Peer lets code run between a response and the end", async () => {
  const log: string[] = [];
  const { peer, other } = withScript({ answerGrace: 0 });
  const call = peer.request("m").then(() => log.push("response"));
  const closed = peer.closed.then(() => log.push("closed"));
  other.say({ id: 1, result: 1 });
  await other.hangUp();
  await Promise.all([call, closed]);
  expect(log).toEqual(["response", "closed"]);
});

test("Peer keeps any mix of messages in wire order", async () => {
  const kinds = fc.array(fc.constantFrom("notification", "response", "request"), {
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(kinds, async (sequence) => {
      const log: string[] = [];
      const { peer, other } = withScript({
        inFlight: 100,
        onNotification: (message) => void log.push(String(message.method)),
        onRequest(message, respond) {
          log.push(String(message.method));
          void respond({ result: null });
        },
      });
      const calls: Promise<unknown>[] = [];
      const messages = sequence.map((kind, k) => {
        if (kind === "notification") return { method: `${k}` };
        if (kind === "request") return { id: `${k}`, method: `${k}` };
        calls.push(peer.request("m").then((value) => log.push(JSON.stringify(value))));
        return { id: calls.length, result: k };
      });
      other.say(...messages);
      await Promise.all(calls);
      await settle();
      expect(log).toEqual(sequence.map((_kind, k) => `${k}`));
      peer.end(new SluiceError("test", "Test"));
    }),
    { numRuns: 60 },
  );
});

test("Peer reads only when the gate lets it, one chunk at a time", async () => {
  const log: string[] = [];
  let release: (() => void) | undefined;
  let asked = 0;
  const gate = (): Promise<void> => {
    asked += 1;
    return new Promise((resolve) => (release = resolve));
  };
  const { peer, other } = withScript({
    gate,
    onNotification: (message) => void log.push(String(message.method)),
  });
  other.say({ method: "a" });
  other.say({ method: "b" });
  await settle();
  expect([log, asked]).toEqual([[], 1]);
  release?.();
  await settle();
  expect([log, asked]).toEqual([["a"], 2]);
  release?.();
  await settle();
  expect([log, asked]).toEqual([["a", "b"], 3]);
  peer.end(new SluiceError("test", "Test"));
  expect(await peer.closed).toMatchObject({ code: "test" });
});

test("Peer ends when the gate fails", async () => {
  const cause = new Error("gate");
  const { peer } = withScript({ gate: () => Promise.reject(cause) });
  expect(await peer.closed).toMatchObject({ code: "connection_closed", cause });
});

test("Peer hands nothing on while its constructor runs", async () => {
  let made = false;
  const early: boolean[] = [];
  const { peer } = withScript({
    gate() {
      early.push(made);
      return undefined;
    },
  });
  made = true;
  await settle();
  expect(early).toEqual([true]);
  await peer.close();
});
