import { expect, test } from "vitest";
import type { SluiceError } from "../../lib/errors.ts";
import type { Respond, RpcMessage } from "../../lib/rpc/mod.ts";
import { failureOf, withScript } from "./scripted-peer.ts";

function serving(onRequest: (message: RpcMessage, respond: Respond) => void, onFault?: "report") {
  const faults: SluiceError[] = [];
  const fault = (each: SluiceError): void => void faults.push(each);
  return { ...withScript({ onRequest, fault, ...(onFault ? { onFault } : {}) }), faults };
}

test("Peer hands each request to onRequest, in place of the table", async () => {
  const { peer, other } = serving((message, respond) => {
    void respond(
      message.method === "ok"
        ? { result: message.params ?? null }
        : { error: { code: 1, message: "no" } },
    );
  });
  other.say({ id: 1, method: "ok", params: [1] }, { id: 2, method: "not" });
  expect(await other.hear()).toEqual({ jsonrpc: "2.0", id: 1, result: [1] });
  expect(await other.hear()).toEqual({
    jsonrpc: "2.0",
    id: 2,
    error: { code: 1, message: "no" },
  });
  await peer.close();
});

test("Peer takes one answer from respond, and another after a refused one", async () => {
  const outcomes: Promise<unknown>[] = [];
  const { peer, other } = serving((_message, respond) => {
    outcomes.push(respond({ result: NaN }), respond({ result: 1 }), respond({ result: 2 }));
  });
  other.say({ id: 1, method: "m" });
  expect(await other.hear()).toEqual({ jsonrpc: "2.0", id: 1, result: 1 });
  expect(await failureOf(outcomes[0]!)).toMatchObject({ code: "unencodable" });
  await outcomes[1];
  expect(await failureOf(outcomes[2]!)).toBeInstanceOf(TypeError);
  await peer.close();
});

test("Peer answers for an onRequest that throws or rejects", async () => {
  const { peer, other } = serving((message) => {
    if (message.method === "throw") throw new Error("thrown");
    return Promise.reject(new Error("rejected")) as never;
  });
  other.say({ id: 1, method: "throw" }, { id: 2, method: "reject" });
  expect(await other.hear()).toMatchObject({ id: 1, error: { code: -32603, message: "thrown" } });
  expect(await other.hear()).toMatchObject({
    id: 2,
    error: { code: -32603, message: "rejected" },
  });
  await peer.close();
});

test("Peer takes a throw after the answer as a fault", async () => {
  const { peer, other, faults } = serving((_message, respond) => {
    void respond({ result: 1 });
    throw new Error("after all");
  }, "report");
  other.say({ id: 1, method: "m" });
  expect(await other.hear()).toMatchObject({ id: 1, result: 1 });
  expect(faults).toMatchObject([{ code: "handler_failed", cause: { message: "after all" } }]);
  await peer.close();
});

test("Peer counts a request as answered that send() answers", async () => {
  const { peer, other } = withScript({
    inFlight: 1,
    onRequest: (message) => void peer.send({ jsonrpc: "2.0", id: message.id ?? 0, result: "sent" }),
  });
  for (const id of [1, 2, 3]) {
    other.say({ id, method: "m" });
    expect(await other.hear()).toEqual({ jsonrpc: "2.0", id, result: "sent" });
  }
  await peer.close();
});
