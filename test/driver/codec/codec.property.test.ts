import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  decodeControlFrame,
  Decoder,
  encodeControlFrame,
  messageKind,
  ProtocolError,
} from "../../../lib/driver/mod.ts";
import { canonicalJson } from "../../../lib/json/mod.ts";
import { messages } from "../support/arbitraries.ts";

const encoder = new TextEncoder();

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const left = [...chunks];
  return new ReadableStream({
    pull(controller) {
      const chunk = left.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
}

/** Everything a decoder gives for some chunks, in order; faults as their class and code. */
async function outcomes(chunks: readonly Uint8Array[]): Promise<string[]> {
  const decoder = new Decoder(streamOf(chunks));
  const found: string[] = [];
  for (;;) {
    try {
      const message = await decoder.decode();
      if (message === undefined) return found;
      found.push(canonicalJson({ ...message }));
    } catch (error) {
      expect(error).toBeInstanceOf(ProtocolError);
      found.push(`${(error as ProtocolError).class} ${(error as ProtocolError).code}`);
    }
  }
}

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0, k = 0; at < bytes.length; k += 1) {
    const size = sizes[k % sizes.length]!;
    chunks.push(bytes.slice(at, at + size));
    at += size;
  }
  return chunks;
}

test("decodeControlFrame() gives back every message that encodeControlFrame() wrote", () => {
  fc.assert(
    fc.property(messages, (message) => {
      const frame = encodeControlFrame(message);
      const decoded = decodeControlFrame(frame);
      expect(canonicalJson({ ...decoded })).toBe(
        canonicalJson(JSON.parse(JSON.stringify(message))),
      );
      expect(encodeControlFrame(decoded)).toEqual(frame);
      expect(messageKind(decoded)).not.toBe("invalid");
    }),
    { numRuns: 500 },
  );
});

const badLines = fc.constantFrom(
  "",
  "{",
  "[]",
  "null",
  '{"jsonrpc":"1.0","method":"driver.reset","id":1}',
  '{"jsonrpc":"2.0","method":"driver.nothing","id":1}',
  '{"jsonrpc":"2.0","method":"driver.reset","id":1,"id":2}',
  "log line ‑ é 😀",
);
const line = fc.oneof(
  messages.map((message) => new TextDecoder().decode(encodeControlFrame(message)).trimEnd()),
  badLines,
);

test("Decoder gives the same messages and faults for every cut of the bytes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n")), { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }),
      async (lines, ended, sizes) => {
        const text = lines.map((parts) => parts.join("")).join("");
        const bytes = encoder.encode(ended ? text : text.trimEnd());
        fc.pre(bytes.length > 0);
        const whole = await outcomes([bytes]);
        expect(await outcomes(cut(bytes, sizes))).toEqual(whole);
        expect(await outcomes(cut(bytes, [1]))).toEqual(whole);
      },
    ),
    { numRuns: 60 },
  );
});

/** Ways to spoil a frame; `at` is where, from 0 to 1. */
type Mutation = (bytes: number[], at: number, byte: number) => void;
const MUTATIONS: readonly Mutation[] = [
  (bytes, at, byte) => void bytes.splice(at, 1, byte),
  (bytes, at) => void bytes.splice(at, 1),
  (bytes, at, byte) => void bytes.splice(at, 0, byte),
  (bytes, at, byte) => void bytes.splice(at, byte % 20),
  (bytes, at, byte) => void bytes.splice(at, 0, ...bytes.slice(at, at + (byte % 60))),
  (bytes, at) => void bytes.splice(at, Infinity),
  (bytes, at) => void bytes.splice(at, 0, ...encoder.encode('"\\ud800')),
  (bytes, at) => void bytes.splice(at, 0, ...encoder.encode("null,")),
];

test("decodeControlFrame() throws nothing but ProtocolError for a spoilt frame", () => {
  const mutation = fc.record({
    how: fc.constantFrom(...MUTATIONS),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    byte: fc.nat({ max: 255 }),
  });
  let refused = 0;
  fc.assert(
    fc.property(messages, fc.array(mutation, { minLength: 1, maxLength: 3 }), (message, list) => {
      const bytes = [...encodeControlFrame(message)];
      for (const { how, at, byte } of list) how(bytes, Math.floor(at * bytes.length), byte);
      try {
        const decoded = decodeControlFrame(Uint8Array.from(bytes));
        expect(decodeControlFrame(encodeControlFrame(decoded))).toEqual(decoded);
      } catch (error) {
        refused += 1;
        expect(error).toBeInstanceOf(ProtocolError);
      }
    }),
    { numRuns: 1500 },
  );
  expect(refused).toBeGreaterThan(500);
});

test("encodeControlFrame() throws nothing but ProtocolError for values that are no messages", () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (value, params) => {
      fc.pre(value !== null && value !== undefined);
      for (const message of [
        value,
        { jsonrpc: "2.0", id: 1, method: "driver.reset", params },
        { jsonrpc: "2.0", id: 1, result: value },
      ]) {
        try {
          decodeControlFrame(encodeControlFrame(message as never));
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }
    }),
    { numRuns: 500 },
  );
});
