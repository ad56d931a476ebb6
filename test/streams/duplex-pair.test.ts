import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isSluiceError } from "../../lib/errors.ts";
import { duplexPair, toBytes } from "../../lib/streams/mod.ts";

const settle = async (): Promise<void> => {
  for (let k = 0; k < 5; k += 1) await new Promise((resolve) => setTimeout(resolve, 0));
};

/** What a promise has come to by now. */
async function state(promise: Promise<unknown>): Promise<unknown> {
  let now: unknown = "pending";
  promise.then(
    (value) => (now = { value }),
    (error: unknown) => (now = { error }),
  );
  await settle();
  return now;
}

test("duplexPair() carries bytes both ways without copying them", async () => {
  const [a, b] = duplexPair();
  const [there, back] = [Uint8Array.of(1, 2), Uint8Array.of(3)];
  await a.writable.getWriter().write(there);
  await b.writable.getWriter().write(back);
  expect((await b.readable.getReader().read()).value).toBe(there);
  expect((await a.readable.getReader().read()).value).toBe(back);
});

test("duplexPair() makes a writer wait at its high-water mark until the reader takes bytes", async () => {
  const [a, b] = duplexPair({ highWaterMark: 10 });
  const [writer, reader] = [a.writable.getWriter(), b.readable.getReader()];
  await writer.write(new Uint8Array(9));
  await writer.write(new Uint8Array(1));
  const second = writer.write(new Uint8Array(1));
  expect(await state(second)).toBe("pending");
  const third = writer.write(new Uint8Array(1));
  expect((await reader.read()).value?.length).toBe(9);
  expect(await state(second)).toEqual({ value: undefined });
  expect(await state(third)).toEqual({ value: undefined });
});

test("duplexPair() takes 64 KiB by default, whether somebody reads or not", async () => {
  const [a] = duplexPair();
  const writer = a.writable.getWriter();
  for (let k = 0; k < 64; k += 1) await writer.write(new Uint8Array(1024));
  expect(await state(writer.write(new Uint8Array(1)))).toBe("pending");
});

test("duplexPair() ends one direction after its bytes and leaves the other open", async () => {
  const [a, b] = duplexPair();
  const writer = a.writable.getWriter();
  await writer.write(Uint8Array.of(1));
  await writer.close();
  const reply = b.writable.getWriter();
  expect([...(await toBytes(b.readable, { maxBytes: 9 }))]).toEqual([1]);
  await reply.write(Uint8Array.of(2));
  await reply.close();
  expect([...(await toBytes(a.readable, { maxBytes: 9 }))]).toEqual([2]);
  await expect(writer.write(Uint8Array.of(3))).rejects.toThrow(TypeError);
});

test("duplexPair() closes although a write still waits, once the reader took everything", async () => {
  const [a, b] = duplexPair({ highWaterMark: 1 });
  const writer = a.writable.getWriter();
  const [write, close] = [writer.write(Uint8Array.of(1, 2)), writer.close()];
  expect(await state(close)).toBe("pending");
  expect([...(await toBytes(b.readable, { maxBytes: 9 }))]).toEqual([1, 2]);
  await Promise.all([write, close]);
});

test("duplexPair() rejects the writes of a peer whose reader cancelled, the one under way too", async () => {
  const [a, b] = duplexPair({ highWaterMark: 1 });
  const writer = a.writable.getWriter();
  writer.closed.catch(() => undefined);
  const write = writer.write(Uint8Array.of(1, 2));
  write.catch(() => undefined);
  await settle();
  const reason = new Error("enough");
  await b.readable.cancel(reason);
  for (const attempt of [write, writer.write(Uint8Array.of(2))]) {
    const error: unknown = await attempt.catch((thrown: unknown) => thrown);
    expect(isSluiceError(error, "peer_closed")).toBe(true);
    expect(error).toMatchObject({ cause: reason });
  }
  await b.writable.getWriter().write(Uint8Array.of(3));
  expect((await a.readable.getReader().read()).value).toEqual(Uint8Array.of(3));
});

test("duplexPair() errors the reads of a peer whose writer aborted, and drops what was under way", async () => {
  const [a, b] = duplexPair({ highWaterMark: 1 });
  const [writer, reader] = [a.writable.getWriter(), b.readable.getReader()];
  writer.closed.catch(() => undefined);
  const write = writer.write(Uint8Array.of(1, 2));
  write.catch(() => undefined);
  await settle();
  const reason = new Error("broken");
  await writer.abort(reason);
  await expect(reader.read()).rejects.toBe(reason);
  await expect(write).rejects.toBe(reason);
  await b.writable.getWriter().write(Uint8Array.of(3));
  expect((await a.readable.getReader().read()).value).toEqual(Uint8Array.of(3));
});

test("duplexPair() drops chunks of no bytes", async () => {
  const [a, b] = duplexPair();
  const writer = a.writable.getWriter();
  await writer.write(new Uint8Array(0));
  await writer.write(Uint8Array.of(1));
  expect((await b.readable.getReader().read()).value).toEqual(Uint8Array.of(1));
});

test("duplexPair() keeps every byte in order under any chunking, mark and pace", async () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 1, max: 40 }), async (sent, highWaterMark) => {
      const [a, b] = duplexPair({ highWaterMark });
      const piped = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const chunk of sent) controller.enqueue(chunk);
          controller.close();
        },
      }).pipeTo(a.writable);
      const got = await toBytes(b.readable, { maxBytes: 1000 });
      await piped;
      expect([...got]).toEqual(sent.flatMap((chunk) => [...chunk]));
    }),
    { numRuns: 100 },
  );
});

test("duplexPair() refuses chunks that are not bytes and a wrong mark", async () => {
  const [a] = duplexPair();
  const writer = a.writable.getWriter();
  writer.closed.catch(() => undefined);
  await expect(writer.write("text" as unknown as Uint8Array)).rejects.toThrow(TypeError);
  expect(() => duplexPair({ highWaterMark: 0 })).toThrow(RangeError);
});
