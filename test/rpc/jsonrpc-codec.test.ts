import * as fc from "fast-check";
import { expect, test } from "vitest";
import { jsonRpc, messageKind } from "../../lib/rpc/mod.ts";
import type { JsonRpcOptions, RpcMessage } from "../../lib/rpc/mod.ts";
import { collect } from "../../lib/stage/collect.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function decode(text: string, options?: JsonRpcOptions) {
  return collect(jsonRpc(options).decoder(), [bytes(text)]);
}

/** What a text decodes to: the message, or the fault's code. */
function outcome(text: string, options?: JsonRpcOptions): unknown[] {
  return decode(text, options).events.map((event) =>
    "value" in event ? event.value : event.fault.code,
  );
}

const envelope = (members: string): string => `{"jsonrpc":"2.0",${members}}\n`;

const accepted = [
  "0",
  '""',
  "-1",
  '"1"',
  "1",
  "9007199254740991",
  "-9007199254740991",
  "1.0",
  "1e3",
];
const refused = [
  "null",
  "1.5",
  "true",
  "{}",
  "[1]",
  "1915883588174806058",
  "9007199254740992",
  "-1e300",
];

for (const id of accepted) {
  test(`jsonRpc() takes the id ${id} with its type, and never as a notification`, () => {
    const [message] = outcome(envelope(`"id":${id},"method":"m"`)) as RpcMessage[];
    expect(message?.id).toStrictEqual(JSON.parse(id));
    expect(messageKind(message as RpcMessage)).toBe("request");
  });
}

for (const id of refused) {
  test(`jsonRpc() refuses the id ${id} in a request and in a result`, () => {
    expect(outcome(envelope(`"id":${id},"method":"m"`))).toEqual(["invalid_message"]);
    expect(outcome(envelope(`"id":${id},"result":1`))).toEqual(["invalid_message"]);
  });
}

test("jsonRpc() takes an error response with a null id, no other", () => {
  const error = '"error":{"code":-32700,"message":"Parse error"}';
  expect(decode(envelope(`"id":null,${error}`)).values).toHaveLength(1);
  expect(outcome(envelope(error))).toEqual(["invalid_message"]);
  expect(outcome(envelope(`"id":1.5,${error}`))).toEqual(["invalid_message"]);
});

const badEnvelopes: [string, string][] = [
  ["a scalar", "3\n"],
  ["a text", '"x"\n'],
  ["null", "null\n"],
  ["no version", '{"id":1,"method":"m"}\n'],
  ["another version", '{"jsonrpc":"1.0","id":1,"method":"m"}\n'],
  ["a version of another type", '{"jsonrpc":2,"id":1,"method":"m"}\n'],
  ["nothing else", '{"jsonrpc":"2.0"}\n'],
  ["an id alone", envelope('"id":1')],
  ["a method of another type", envelope('"method":1')],
  ["a null method", envelope('"method":null')],
  ["scalar params", envelope('"method":"m","params":3')],
  ["text params", envelope('"method":"m","params":"x"')],
  ["method and result", envelope('"id":1,"method":"m","result":1')],
  ["result and error", envelope('"id":1,"result":1,"error":{"code":1,"message":"m"}')],
  ["params and result", envelope('"id":1,"params":[],"result":1')],
  ["a null error", envelope('"id":1,"error":null')],
  ["an error without a message", envelope('"id":1,"error":{"code":1}')],
  ["an error with a fractional code", envelope('"id":1,"error":{"code":1.5,"message":"m"}')],
  ["an error that is a list", envelope('"id":1,"error":[1]')],
];
for (const [what, text] of badEnvelopes) {
  test(`jsonRpc() refuses a message with ${what}`, () => {
    expect(outcome(text + envelope('"method":"next"'))).toEqual([
      "invalid_message",
      { jsonrpc: "2.0", method: "next" },
    ]);
  });
}

test("jsonRpc() takes a null result, null params and an empty method", () => {
  expect(decode(envelope('"id":1,"result":null')).values).toHaveLength(1);
  expect(decode(envelope('"method":"","params":null')).values).toHaveLength(1);
});

test("jsonRpc() keeps members it does not know", () => {
  expect(outcome(envelope('"method":"m","traceparent":"t"'))).toEqual([
    { jsonrpc: "2.0", method: "m", traceparent: "t" },
  ]);
});

test("jsonRpc() says which rule was broken", () => {
  expect(decode(envelope('"method":1')).faults[0]?.data).toEqual({ rule: "method is a string" });
});

const good = envelope('"method":"next"');
const next = { jsonrpc: "2.0", method: "next" };

test("jsonRpc() skips empty lines and goes on after a bad one", () => {
  expect(outcome(`\n\r\nhello\n${good}`)).toEqual(["syntax", next]);
});

test("jsonRpc() keeps JSON strict", () => {
  expect(outcome(`{"jsonrpc":"2.0","method":"m","method":"n"}\n${good}`)).toEqual([
    "duplicate_key",
    next,
  ]);
  expect(outcome(`${good.trim()} 1\n`)).toEqual(["trailing"]);
});

test("jsonRpc() replaces unpaired surrogates and keeps pairs and escaped backslashes", () => {
  const text = String.raw`"method":"\ud800","params":["\udc00x","\uD83D\uDE00","\\ud800","\ud800\ud83d\ude00","a\ud800\n"]`;
  expect(outcome(envelope(text))).toEqual([
    {
      jsonrpc: "2.0",
      method: "\ufffd",
      params: ["\ufffdx", "\u{1f600}", "\\ud800", "\ufffd\u{1f600}", "a\ufffd\n"],
    },
  ]);
});

test("jsonRpc() stays strict in a text with an unpaired surrogate", () => {
  const text = String.raw`"method":"m","params":{"a":"\ud800","b":1,"\u0062":2}`;
  expect(outcome(envelope(text) + good)).toEqual(["duplicate_key", next]);
});

test("jsonRpc() replaces surrogates as toWellFormed() does", () => {
  const units = fc.array(
    fc.constantFrom("\ud800", "\udbff", "\udc00", "\udfff", "a", "\\", '"', "\n", "\u{1f600}", "é"),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(units, (parts) => {
      const text = parts.join("");
      const line = `${JSON.stringify({ jsonrpc: "2.0", method: "m", params: [text] })}\n`;
      expect(outcome(line)).toEqual([
        { jsonrpc: "2.0", method: "m", params: [text.toWellFormed()] },
      ]);
    }),
  );
});

test("jsonRpc() holds a line to maxBytes", () => {
  const line = envelope('"method":"m"');
  const maxBytes = line.length - 1;
  expect(outcome(line, { maxBytes })).toHaveLength(1);
  expect(outcome(line + good, { maxBytes: maxBytes - 1 })).toEqual([
    "line_too_long",
    "line_too_long",
  ]);
});

const one = { jsonrpc: "2.0", method: "a" };
const two = { jsonrpc: "2.0", id: 1, method: "b" };

test("jsonRpc() refuses a batch with one fault", () => {
  const text = `${JSON.stringify([one, two])}\n${JSON.stringify(two)}\n`;
  expect(outcome(text)).toEqual(["batch_refused", two]);
});

test("jsonRpc() splits a batch into messages and faults in order", () => {
  const text = `${JSON.stringify([one, 3, [one], two])}\n${JSON.stringify(one)}\n`;
  expect(outcome(text, { batches: "split" })).toEqual([
    one,
    "invalid_message",
    "invalid_message",
    two,
    one,
  ]);
});

test("jsonRpc() refuses an empty and an oversize batch with one fault", () => {
  expect(outcome("[]\n", { batches: "split" })).toEqual(["invalid_message"]);
  expect(outcome(`[${"1,".repeat(1024)}1]\n`, { batches: "split" })).toEqual(["batch_too_large"]);
});

const encode = (message: RpcMessage): Uint8Array => jsonRpc().encode(message);
const text = (message: RpcMessage): string => new TextDecoder().decode(encode(message));

test("jsonRpc() writes canonical text and one line feed", () => {
  expect(text({ method: "m", id: 1, jsonrpc: "2.0", params: { b: 1, a: [2] } })).toBe(
    '{"id":1,"jsonrpc":"2.0","method":"m","params":{"a":[2],"b":1}}\n',
  );
});

test("jsonRpc() encodes nothing that breaks a rule", () => {
  const bad: unknown[] = [
    { jsonrpc: "2.0", id: 1.5, method: "m" },
    { jsonrpc: "2.0", id: 2 ** 53, method: "m" },
    { jsonrpc: "2.0", id: 1 },
    { jsonrpc: "2.0", method: "m", params: 3 },
  ];
  for (const message of bad) {
    expect(() => encode(message as RpcMessage)).toThrow(
      expect.objectContaining({ code: "invalid_message" }),
    );
  }
});

test("jsonRpc() refuses values without JSON text", () => {
  for (const value of [NaN, 1n, () => 1, "\ud800"]) {
    const message = { jsonrpc: "2.0", method: "m", params: [value] } as unknown as RpcMessage;
    expect(() => encode(message)).toThrow(expect.objectContaining({ code: "unencodable" }));
  }
});

test("jsonRpc() holds what it writes to maxBytes", () => {
  const message = { jsonrpc: "2.0", method: "m" };
  const size = encode(message).length - 1;
  expect(jsonRpc({ maxBytes: size }).encode(message)).toHaveLength(size + 1);
  expect(() => jsonRpc({ maxBytes: size - 1 }).encode(message)).toThrow(
    expect.objectContaining({ code: "frame_too_large" }),
  );
});

test("jsonRpc() decodes what it encoded, however the bytes are cut", () => {
  const message = fc.record({
    jsonrpc: fc.constant("2.0"),
    id: fc.oneof(fc.maxSafeInteger(), fc.string({ unit: "grapheme" })),
    method: fc.string({ unit: "grapheme" }),
    params: fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.integer(), fc.boolean())),
  });
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 5 }),
      fc.integer({ min: 1, max: 40 }),
      (messages, size) => {
        const codec = jsonRpc();
        const whole = messages.flatMap((each) => [...codec.encode(each)]);
        const chunks: Uint8Array[] = [];
        for (let at = 0; at < whole.length; at += size) {
          chunks.push(Uint8Array.from(whole.slice(at, at + size)));
        }
        expect(collect(codec.decoder(), chunks).values).toEqual(messages);
      },
    ),
  );
});
