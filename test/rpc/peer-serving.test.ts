import { expect, test } from "vitest";
import { SluiceError } from "../../lib/errors.ts";
import { defineMethod } from "../../lib/rpc/mod.ts";
import type { MethodContext, RpcMessage } from "../../lib/rpc/mod.ts";
import type { StandardSchemaV1 } from "../../lib/schema/mod.ts";
import { settle, withScript } from "./scripted-peer.ts";

interface Name {
  readonly name: string;
}

function checkName(value: unknown): StandardSchemaV1.Result<Name> {
  const name = (value as Partial<Name> | undefined)?.name;
  if (typeof name === "string") return { value: { name: name.toUpperCase() } };
  return { issues: [{ message: "Expected a name", path: ["name"] }] };
}
const nameSchema: StandardSchemaV1<unknown, Name> = {
  "~standard": { version: 1, vendor: "hand", validate: checkName },
};
const lateSchema: StandardSchemaV1<unknown, Name> = {
  "~standard": { version: 1, vendor: "hand", validate: async (value) => checkName(value) },
};
const brokenSchema: StandardSchemaV1 = {
  "~standard": {
    version: 1,
    vendor: "hand",
    validate() {
      throw new Error("broken schema");
    },
  },
};

const methods = {
  greet: defineMethod({ params: nameSchema, handler: ({ name }) => `hello ${name}` }),
  greetLate: defineMethod({ params: lateSchema, handler: async ({ name }) => `hello ${name}` }),
  broken: { params: brokenSchema, handler: () => 1 },
  nothing: { handler: () => undefined },
  fail: {
    handler() {
      throw new Error("went wrong");
    },
  },
  failLate: { handler: () => Promise.reject(new Error("went wrong later")) },
  failOdd: { handler: () => Promise.reject(undefined) },
  mismatch: {
    handler() {
      throw new SluiceError("schema_mismatch", "Inner");
    },
  },
  unencodable: { handler: () => ({ value: 1n }) },
  huge: { handler: () => "x".repeat(2 ** 21) },
};

const cases: [string, object, object][] = [
  [
    "serves with a synchronous schema",
    { method: "greet", params: { name: "a" } },
    { result: "hello A" },
  ],
  [
    "serves with an asynchronous schema",
    { method: "greetLate", params: { name: "a" } },
    { result: "hello A" },
  ],
  ["sends null for undefined", { method: "nothing" }, { result: null }],
  [
    "answers an unknown method with -32601",
    { method: "nope" },
    { error: { code: -32601, message: "Method not found: nope" } },
  ],
  [
    "takes no method from Object.prototype",
    { method: "constructor" },
    { error: { code: -32601, message: "Method not found: constructor" } },
  ],
  [
    "answers bad params with -32602",
    { method: "greet", params: [] },
    {
      error: {
        code: -32602,
        message: "Invalid params: The value at /name does not match the schema: Expected a name",
        data: { issues: [{ path: "/name", message: "Expected a name" }] },
      },
    },
  ],
  ["answers missing params with -32602", { method: "greetLate" }, { error: { code: -32602 } }],
  [
    "answers a broken schema with -32603",
    { method: "broken" },
    { error: { code: -32603, message: "broken schema" } },
  ],
  [
    "answers a throw with -32603 and its message",
    { method: "fail" },
    { error: { code: -32603, message: "went wrong" } },
  ],
  [
    "answers a rejection with -32603",
    { method: "failLate" },
    { error: { code: -32603, message: "went wrong later" } },
  ],
  [
    "answers an odd rejection with -32603",
    { method: "failOdd" },
    { error: { code: -32603, message: "Internal error" } },
  ],
  [
    "tells a handler's mismatch from its params'",
    { method: "mismatch" },
    { error: { code: -32603, message: "Inner" } },
  ],
  [
    "answers a result without JSON text with -32603",
    { method: "unencodable" },
    { error: { code: -32603 } },
  ],
  [
    "answers a result over the line bound with -32603",
    { method: "huge" },
    { error: { code: -32603 } },
  ],
];
for (const [what, request, answer] of cases) {
  test(`Peer ${what}`, async () => {
    const { peer, other } = withScript({ methods });
    other.say({ id: "q", ...request });
    const heard = await other.hear();
    expect(heard).toMatchObject({ jsonrpc: "2.0", id: "q", ...answer });
    expect(JSON.stringify(heard)).not.toContain(".test.ts");
    await peer.close();
  });
}

test("Peer echoes ids of any kind with their type", async () => {
  const { peer, other } = withScript({ methods });
  for (const id of [0, "", -1, "1", 1]) {
    other.say({ id, method: "nothing" });
    expect(await other.hear()).toStrictEqual({ jsonrpc: "2.0", id, result: null });
  }
  await peer.close();
});

test("Peer never takes a request with a null id for a notification", async () => {
  const notified: RpcMessage[] = [];
  const { peer, other } = withScript({
    onNotification: (message) => void notified.push(message),
  });
  other.say({ id: null, method: "m" });
  expect(await peer.closed).toMatchObject({ code: "invalid_message" });
  expect(notified).toEqual([]);
});

test("Peer makes errors with errorObject, for its own refusals too", async () => {
  const { peer, other } = withScript({
    methods,
    errorObject: (thrown) => ({
      code: 7,
      message: (thrown as Error).message,
      data: { class: (thrown as { code?: string }).code ?? "none" },
    }),
  });
  other.say({ id: 1, method: "fail" });
  expect(await other.hear()).toMatchObject({ error: { code: 7, data: { class: "none" } } });
  other.say({ id: 2, method: "nope" });
  expect(await other.hear()).toMatchObject({
    error: { code: 7, data: { class: "method_not_found" } },
  });
  other.say({ id: 3, method: "greet" });
  expect(await other.hear()).toMatchObject({
    error: { code: 7, data: { class: "invalid_params" } },
  });
  await peer.close();
});

test("Peer answers although errorObject throws or gives what cannot be sent", async () => {
  const broken = [
    () => {
      throw new Error("broken mapping");
    },
    () => ({ code: 1.5, message: "no" }),
  ];
  for (const errorObject of broken) {
    const { peer, other } = withScript({ methods, errorObject });
    other.say({ id: 1, method: "fail" });
    expect(await other.hear()).toMatchObject({ id: 1, error: { code: -32603 } });
    await peer.close();
  }
});

test("Peer runs at most inFlight handlers and refuses more at once", async () => {
  let [running, peak] = [0, 0];
  const gates: PromiseWithResolvers<void>[] = [];
  const limited = withScript({
    inFlight: 4,
    methods: {
      work: {
        async handler() {
          peak = Math.max(peak, (running += 1));
          const gate = Promise.withResolvers<void>();
          gates.push(gate);
          await gate.promise;
          running -= 1;
        },
      },
    },
  });
  limited.other.say(...Array.from({ length: 100 }, (_, id) => ({ id, method: "work" })));
  for (let k = 0; k < 96; k += 1) {
    expect(await limited.other.hear()).toEqual({
      jsonrpc: "2.0",
      id: k + 4,
      error: { code: -32000, message: "Too many requests in flight" },
    });
  }
  expect([running, peak]).toEqual([4, 4]);
  for (const gate of gates) gate.resolve();
  const answers = [];
  for (let k = 0; k < 4; k += 1) answers.push((await limited.other.hear())?.id);
  expect(answers).toEqual([0, 1, 2, 3]);
  limited.other.say({ id: "again", method: "work" });
  await settle();
  expect(running).toBe(1);
  limited.peer.end(new SluiceError("test", "Test"));
});

test("Peer reads on while handlers run", async () => {
  const { peer, other } = withScript({
    methods: { hang: { handler: () => new Promise(() => {}) } },
  });
  other.say({ id: 1, method: "hang" });
  const call = peer.request("m");
  other.say({ id: 1, result: "answer" });
  expect(await call).toBe("answer");
  peer.end(new SluiceError("test", "Test"));
});

test("Peer takes a second request with an id in use as a fault", async () => {
  const { peer, other } = withScript({
    methods: { hang: { handler: () => new Promise(() => {}) } },
  });
  other.say({ id: 1, method: "hang" }, { id: 1, method: "hang" });
  expect(await peer.closed).toMatchObject({ code: "duplicate_request_id" });
});

test("Peer aborts a handler's signal when it ends, also one asked for later", async () => {
  const contexts: MethodContext[] = [];
  const { peer, other } = withScript({
    methods: {
      hang: {
        handler(_params, context) {
          contexts.push(context);
          return new Promise(() => {});
        },
      },
    },
  });
  other.say({ id: "a", method: "hang" }, { id: "b", method: "hang" });
  await settle();
  const early = contexts[0]?.signal;
  expect(early?.aborted).toBe(false);
  const reason = new SluiceError("test", "Test");
  peer.end(reason);
  expect(early?.reason).toBe(reason);
  expect(contexts[1]?.signal.reason).toBe(reason);
  expect(contexts.map((context) => context.id)).toEqual(["a", "b"]);
});

test("Peer ends when the other side floods it with requests and reads no answer", async () => {
  const { peer, other } = withScript({ methods, writeQueueBytes: 100_000 });
  for (let round = 0; round < 100; round += 1) {
    other.say(...Array.from({ length: 100 }, (_, k) => ({ id: round * 100 + k, method: "nope" })));
  }
  expect(await peer.closed).toMatchObject({ code: "write_queue_full" });
});
