import { expect, test } from "vitest";
import {
  Decoder,
  Encoder,
  MAX_CONTROL_FRAME_BYTES,
  ProtocolError,
} from "../../../lib/driver/mod.ts";
import type { Message } from "../../../lib/driver/mod.ts";

const RESET = '{"id":1,"jsonrpc":"2.0","method":"driver.reset"}';
const reset = (id: number): string => RESET.replace('"id":1', `"id":${id}`);

/** A source that a test feeds by hand, and what was done to it. */
function source() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const log: { pulls: number; cancelled?: unknown } = { pulls: 0 };
  const readable = new ReadableStream<Uint8Array>(
    {
      start: (given) => void (controller = given),
      pull: () => void (log.pulls += 1),
      cancel: (reason) => void (log.cancelled = reason),
    },
    { highWaterMark: 0 },
  );
  return {
    readable,
    log,
    text: (text: string) => controller.enqueue(new TextEncoder().encode(text)),
    bytes: (bytes: Uint8Array) => controller.enqueue(bytes),
    close: () => controller.close(),
    error: (error: unknown) => controller.error(error),
  };
}

test("Decoder reports one fault a line and goes on with the next", async () => {
  const from = source();
  const decoder = new Decoder(from.readable);
  from.text(`hello\n${reset(1)}\n\n{"jsonrpc":"1.0"}\r\n${reset(2)}\r\n`);
  from.close();
  await expect(decoder.decode()).rejects.toMatchObject({
    code: "syntax",
    data: { excerpt: "hello" },
  });
  expect(await decoder.decode()).toMatchObject({ id: 1 });
  await expect(decoder.decode()).rejects.toMatchObject({ code: "empty_control_frame" });
  await expect(decoder.decode()).rejects.toMatchObject({ class: "unsupported_rpc_version" });
  expect(await decoder.decode()).toMatchObject({ id: 2 });
  expect(await decoder.decode()).toBeUndefined();
  expect(await decoder.decode()).toBeUndefined();
});

test("Decoder answers calls made at the same time in order, faults included", async () => {
  const from = source();
  const decoder = new Decoder(from.readable);
  const calls = [1, 2, 3, 4].map(() =>
    decoder.decode().then(
      (message) => message?.id ?? "end",
      (error: ProtocolError) => error.code,
    ),
  );
  from.text(`${reset(7)}\n[`);
  from.text(`]\n${reset(8)}`);
  from.close();
  expect(await Promise.all(calls)).toEqual([7, "invalid_envelope", 8, "end"]);
});

test("Decoder is an async iterable; leaving the loop cancels the source", async () => {
  const from = source();
  from.text(`${reset(1)}\n${reset(2)}\n`);
  const seen: unknown[] = [];
  for await (const message of new Decoder(from.readable)) {
    seen.push(message.id);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual([1, 2]);
  expect("cancelled" in from.log).toBe(true);
});

test("Decoder goes on iterating after a fault that a caller of next() caught", async () => {
  const from = source();
  from.text(`x\n${reset(1)}\n`);
  from.close();
  const steps = new Decoder(from.readable)[Symbol.asyncIterator]();
  await expect(steps.next()).rejects.toBeInstanceOf(ProtocolError);
  expect(await steps.next()).toMatchObject({ done: false, value: { id: 1 } });
  expect(await steps.next()).toEqual({ done: true, value: undefined });
});

test("Decoder.cancel() ends a call under way and drops what is held", async () => {
  const from = source();
  const decoder = new Decoder(from.readable);
  from.text(`${reset(1)}\n${reset(2)}\n{"half`);
  expect(await decoder.decode()).toMatchObject({ id: 1 });
  await decoder.cancel("enough");
  expect(from.log.cancelled).toBe("enough");
  expect(await decoder.decode()).toBeUndefined();

  const idle = source();
  const waiting = new Decoder(idle.readable);
  idle.text('{"half');
  const call = waiting.decode();
  await waiting.cancel();
  expect(await call).toBeUndefined();
});

test("Decoder gives what came before a failure of the source, then its error at every call", async () => {
  const from = source();
  const decoder = new Decoder(from.readable);
  from.text(`${reset(1)}\n${reset(2)}`);
  expect(await decoder.decode()).toMatchObject({ id: 1 });
  const failure = new Error("broken");
  from.error(failure);
  await expect(decoder.decode()).rejects.toBe(failure);
  await expect(decoder.decode()).rejects.toBe(failure);
});

test("Decoder reads only when asked, and one chunk at a time", async () => {
  const from = source();
  const decoder = new Decoder(from.readable);
  await Promise.resolve();
  expect(from.log.pulls).toBe(0);
  from.text(`${reset(1)}\n${reset(2)}\n`);
  await decoder.decode();
  await decoder.decode();
  expect(from.log.pulls).toBe(0);
  const call = decoder.decode();
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(from.log.pulls).toBe(1);
  from.close();
  await call;
});

test("Decoder reports an over-long line once, keeps none of it, and goes on", async () => {
  let sent = 0;
  const chunk = new Uint8Array(64 * 1024).fill(0x61);
  chunk[0] = 0x7b;
  const readable = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        sent += chunk.length;
        if (sent <= 64 * MAX_CONTROL_FRAME_BYTES) return controller.enqueue(chunk);
        controller.enqueue(new TextEncoder().encode(`\n${RESET}\n`));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const decoder = new Decoder(readable);
  await expect(decoder.decode()).rejects.toMatchObject({
    class: "budget_exceeded",
    code: "control_frame_too_large",
  });
  expect(sent).toBeLessThan(2 * MAX_CONTROL_FRAME_BYTES);
  expect(await decoder.decode()).toMatchObject({ id: 1 });
  expect(await decoder.decode()).toBeUndefined();
});

/** A writable that keeps its chunks as texts and takes them only when let. */
function target() {
  const chunks: string[] = [];
  let open = Promise.withResolvers<void>();
  const writable = new WritableStream<Uint8Array>({
    write: async (chunk) => {
      await open.promise;
      chunks.push(new TextDecoder().decode(chunk));
    },
  });
  return {
    writable,
    chunks,
    let: () => open.resolve(),
    hold: () => (open = Promise.withResolvers()),
  };
}

test("Encoder writes one canonical frame a chunk, in the order of the calls", async () => {
  const to = target();
  const encoder = new Encoder(to.writable);
  const message = (id: number) => ({ method: "driver.reset", jsonrpc: "2.0", id }) as Message;
  const writes = [encoder.encode(message(1)), encoder.encode(message(2))];
  let written = false;
  void writes[0]!.then(() => (written = true));
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(written).toBe(false);
  to.let();
  await Promise.all(writes);
  await encoder.close();
  expect(to.chunks).toEqual([`${reset(1)}\n`, `${reset(2)}\n`]);
});

test("Encoder writes nothing for a message that it refuses, and goes on", async () => {
  const to = target();
  to.let();
  const encoder = new Encoder(to.writable);
  const bad: unknown[] = [
    { jsonrpc: "2.0", method: "driver.reset" },
    { jsonrpc: "2.0", id: 1, result: Number.NaN },
    { jsonrpc: "2.0", id: 1, result: "x".repeat(MAX_CONTROL_FRAME_BYTES) },
  ];
  for (const message of bad)
    await expect(encoder.encode(message as Message)).rejects.toBeInstanceOf(ProtocolError);
  await encoder.encode({ jsonrpc: "2.0", id: 1, result: null });
  expect(to.chunks).toEqual(['{"id":1,"jsonrpc":"2.0","result":null}\n']);
});

test("Encoder rejects with the failure of its stream", async () => {
  const failure = new Error("gone");
  const encoder = new Encoder(new WritableStream({ write: () => Promise.reject(failure) }));
  await expect(encoder.encode({ jsonrpc: "2.0", id: 1, result: 1 })).rejects.toBe(failure);
});
