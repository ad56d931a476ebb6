import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SluiceError } from "../../lib/errors.ts";
import { FrameWriter } from "../../lib/rpc/frame-writer.ts";
import { failureOf, settle } from "./scripted-peer.ts";

const frame = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A sink that takes a chunk only when told to. */
function slowSink() {
  const written: string[] = [];
  let controller!: WritableStreamDefaultController;
  let release: PromiseWithResolvers<void> | undefined;
  let open = false;
  let closed = false;
  const writable = new WritableStream<Uint8Array>({
    start: (given) => void (controller = given),
    write(chunk) {
      written.push(new TextDecoder().decode(chunk));
      if (open) return undefined;
      release = Promise.withResolvers();
      return release.promise;
    },
    close: () => void (closed = true),
  });
  return {
    writable,
    written,
    isClosed: () => closed,
    takeOne: () => release?.resolve(),
    takeAll() {
      open = true;
      release?.resolve();
    },
    breakOne: (thrown: unknown) => release?.reject(thrown),
    error: (thrown: unknown) => controller.error(thrown),
  };
}

test("FrameWriter joins the frames of one microtask into one write", async () => {
  const sink = slowSink();
  sink.takeAll();
  const writer = new FrameWriter(sink.writable);
  await Promise.all([writer.write(frame("a")), writer.write(frame("b")), writer.write(frame("c"))]);
  expect(sink.written).toEqual(["abc"]);
  await writer.write(frame("d"));
  expect(sink.written).toEqual(["abc", "d"]);
  expect(writer.queuedBytes).toBe(0);
});

test("FrameWriter joins what is queued during a write, and keeps order", async () => {
  const sink = slowSink();
  const writer = new FrameWriter(sink.writable);
  const first = writer.write(frame("1"));
  await settle();
  const rest = ["2", "3", "4"].map((text) => writer.write(frame(text)));
  await settle();
  expect(sink.written).toEqual(["1"]);
  sink.takeAll();
  await Promise.all([first, ...rest]);
  expect(sink.written).toEqual(["1", "234"]);
});

test("FrameWriter writes a large frame without joining it", async () => {
  const sink = slowSink();
  sink.takeAll();
  const writer = new FrameWriter(sink.writable);
  const large = frame("x".repeat(70_000));
  await Promise.all([writer.write(frame("a")), writer.write(large), writer.write(frame("b"))]);
  expect(sink.written.map((text) => text.length)).toEqual([1, 70_000, 1]);
});

test("FrameWriter resolves a write only when the stream has taken it", async () => {
  const sink = slowSink();
  const writer = new FrameWriter(sink.writable);
  let done = false;
  const write = writer.write(frame("a")).then(() => (done = true));
  await settle();
  expect(done).toBe(false);
  sink.takeOne();
  await write;
});

test("FrameWriter rejects at once over writeQueueBytes, and queues nothing then", async () => {
  const sink = slowSink();
  const writer = new FrameWriter(sink.writable, { writeQueueBytes: 10 });
  const first = writer.write(frame("123456"));
  await settle();
  const second = writer.write(frame("7890"));
  expect(writer.queuedBytes).toBe(10);
  expect(await failureOf(writer.write(frame("x")))).toMatchObject({
    code: "write_queue_full",
    data: { queuedBytes: 10, frameBytes: 1, writeQueueBytes: 10 },
  });
  sink.takeAll();
  await Promise.all([first, second]);
  await writer.write(frame("y"));
  expect(sink.written.join("")).toBe("1234567890y");
});

test("FrameWriter rejects what waits and what comes later when a write fails", async () => {
  const sink = slowSink();
  const failures: unknown[] = [];
  const writer = new FrameWriter(sink.writable, {
    onFailure: (failure) => failures.push(failure),
  });
  const first = writer.write(frame("a"));
  await settle();
  const second = writer.write(frame("b"));
  const closing = writer.close();
  const cause = new Error("EPIPE");
  sink.breakOne(cause);
  await failureOf(first);
  for (const write of [first, second, closing, writer.write(frame("c"))]) {
    expect(await failureOf(write)).toMatchObject({ code: "write_failed", cause });
  }
  expect(failures).toHaveLength(1);
  expect(writer.queuedBytes).toBe(0);
});

test("FrameWriter rejects what waits when the stream errors while its write hangs", async () => {
  const sink = slowSink();
  const writer = new FrameWriter(sink.writable);
  const first = writer.write(frame("a"));
  const second = writer.write(frame("b"));
  await settle();
  const cause = new Error("the other side has gone");
  sink.error(cause);
  expect(await failureOf(first)).toMatchObject({ code: "write_failed", cause });
  expect(await failureOf(second)).toMatchObject({ code: "write_failed", cause });
});

test("FrameWriter notices that an idle stream has errored", async () => {
  const sink = slowSink();
  const writer = new FrameWriter(sink.writable);
  sink.error(new SluiceError("peer_closed", "Gone"));
  await settle();
  expect(writer.failure).toMatchObject({ code: "peer_closed" });
});

test("FrameWriter writes what is queued before it closes, and takes nothing after", async () => {
  const sink = slowSink();
  const writer = new FrameWriter(sink.writable);
  const write = writer.write(frame("a"));
  const closing = writer.close();
  expect(writer.close()).toBe(closing);
  expect(await failureOf(writer.write(frame("b")))).toMatchObject({ code: "write_closed" });
  await settle();
  expect(sink.isClosed()).toBe(false);
  sink.takeAll();
  await Promise.all([write, closing]);
  expect(sink.isClosed()).toBe(true);
  expect(sink.written).toEqual(["a"]);
});

test("FrameWriter rejects everything with the reason of abort at once, also during a hung write", async () => {
  const sink = slowSink();
  const failures: unknown[] = [];
  const writer = new FrameWriter(sink.writable, {
    onFailure: (failure) => failures.push(failure),
  });
  const writes = [writer.write(frame("a")), writer.write(frame("b")), writer.close()];
  await settle();
  const reason = new SluiceError("ended", "Ended");
  writer.abort(reason);
  for (const write of writes) expect(await failureOf(write)).toBe(reason);
  expect(await failureOf(writer.write(frame("c")))).toBe(reason);
  expect(failures).toEqual([]);
});

test("FrameWriter raises no unhandled rejection for promises that nobody looks at", async () => {
  const sink = slowSink();
  const writer = new FrameWriter(sink.writable);
  void writer.write(frame("a"));
  void writer.close();
  writer.abort(new SluiceError("ended", "Ended"));
  void writer.write(frame("b"));
  await settle();
});

test("FrameWriter writes all bytes in order for any sizes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 40_000 }), { maxLength: 12 }),
      async (sizes) => {
        const sink = slowSink();
        sink.takeAll();
        const writer = new FrameWriter(sink.writable);
        const texts = sizes.map((size, k) => String.fromCodePoint(97 + k).repeat(size));
        const writes = texts.map((text) => writer.write(frame(text)));
        await Promise.all([...writes, writer.close()]);
        expect(sink.written.join("")).toBe(texts.join(""));
        expect(sink.written.every((text) => text.length <= 64 * 1024)).toBe(true);
      },
    ),
    { numRuns: 30 },
  );
});
