import * as fc from "fast-check";
import { expect, test } from "vitest";
import { StderrTail } from "../../lib/process/stderr-tail.ts";
import { VirtualClock } from "../../lib/testing/virtual-clock.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function flow(...chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

test("StderrTail keeps everything while it fits", async () => {
  const tail = new StderrTail(flow(encode("one\n"), encode("two\n")));
  await tail.done;
  expect(tail.text()).toBe("one\ntwo\n");
  expect([tail.bytesSeen, tail.bytesDropped]).toEqual([8, 0]);
});

test("StderrTail drops the oldest bytes, counts them and starts at a line border", async () => {
  const tail = new StderrTail(flow(encode("first\nsecond\nthird\n")), { maxBytes: 10 });
  await tail.done;
  expect(tail.text()).toBe("third\n");
  expect([tail.bytesSeen, tail.bytesDropped]).toEqual([19, 9]);
});

test("StderrTail replaces invalid UTF-8 and starts no text inside a character", async () => {
  const broken = new StderrTail(flow(new Uint8Array([0x61, 0xff, 0x62])));
  const cut = new StderrTail(flow(encode("aaa漢漢")), { maxBytes: 4 });
  await Promise.all([broken.done, cut.done]);
  expect(broken.text()).toBe("a\uFFFDb");
  expect(cut.text()).toBe("漢");
});

test("StderrTail takes a broken pipe for its end", async () => {
  const tail = new StderrTail(
    new ReadableStream({
      start(controller) {
        controller.error(new Error("broken"));
      },
    }),
  );
  await expect(tail.done).resolves.toBeUndefined();
  expect(tail.text()).toBe("");
});

test("StderrTail hands every chunk to tee and survives one that throws", async () => {
  const seen: string[] = [];
  const tee = (chunk: Uint8Array): void => {
    seen.push(new TextDecoder().decode(chunk));
    if (seen.length === 2) throw new Error("tee");
  };
  const tail = new StderrTail(flow(encode("a"), encode("b"), encode("c")), { tee });
  await tail.done;
  expect(seen).toEqual(["a", "b"]);
  expect(tail.text()).toBe("abc");
});

test("StderrTail.text() redacts before it cuts", async () => {
  const secret = "correct-horse";
  const redact = (text: string): string => text.replaceAll(secret, "[redacted]");
  const tail = new StderrTail(flow(encode(`xx${secret} and ${secret} end`)), {
    maxBytes: 25,
    overlap: secret.length,
  });
  await tail.done;
  const text = tail.text({ redact });
  expect(text).toContain("and [redacted] end");
  expect(text).not.toContain("horse");
});

test("StderrTail.settled() waits for the end, at most the timeout", async () => {
  const clock = new VirtualClock();
  const open = new StderrTail(new ReadableStream());
  let settled = false;
  const waiting = open.settled(clock, 100).then(() => (settled = true));
  clock.advance(99);
  await Promise.resolve();
  expect(settled).toBe(false);
  clock.advance(1);
  await waiting;
  const ended = new StderrTail(flow());
  await ended.settled(clock, 100);
  expect(clock.pending).toBe(0);
});

test("StderrTail refuses bounds below 1", () => {
  expect(() => new StderrTail(new ReadableStream(), { maxBytes: 0 })).toThrow(RangeError);
});

test("StderrTail keeps the last maxBytes bytes for any cut of the flow", async () => {
  const chunks = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 3000 }), {
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 1, max: 5000 }), async (texts, maxBytes) => {
      const tail = new StderrTail(flow(...texts.map(encode)), { maxBytes });
      await tail.done;
      expect(tail.text()).toBe(texts.join("").slice(-maxBytes));
    }),
    { numRuns: 100 },
  );
});
