import { expect, test } from "vitest";
import { SluiceError } from "../../lib/errors.ts";
import { toBytes, toText } from "../../lib/streams/mod.ts";

function source(chunks: readonly unknown[], log: unknown[] = []): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (next === chunks.length) return controller.close();
        controller.enqueue(chunks[next] as Uint8Array);
        next += 1;
        log.push(next);
      },
      cancel: (reason) => void log.push(reason),
    },
    { highWaterMark: 0 },
  );
}

const part = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes);

test("toBytes() joins the chunks of a stream", async () => {
  expect([...(await toBytes(source([part(1, 2), part(), part(3)]), { maxBytes: 3 }))]).toEqual([
    1, 2, 3,
  ]);
  expect((await toBytes(source([]), { maxBytes: 3 })).length).toBe(0);
});

test("toBytes() refuses a stream of more than maxBytes, cancels it and reads no further", async () => {
  const log: unknown[] = [];
  const error: unknown = await toBytes(source([part(1, 2), part(3, 4), part(5)], log), {
    maxBytes: 3,
  }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SluiceError);
  expect(error).toMatchObject({ code: "stream_too_long", data: { maxBytes: 3 } });
  expect(log.slice(0, 2)).toEqual([1, 2]);
  expect(log.length).toBe(3);
});

test("toBytes() passes a failure of the stream on and refuses wrong calls", async () => {
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => controller.error(new Error("broken")),
  });
  await expect(toBytes(broken, { maxBytes: 3 })).rejects.toThrow("broken");
  await expect(toBytes(source(["text"]), { maxBytes: 3 })).rejects.toThrow(TypeError);
  await expect(toBytes(source([]), { maxBytes: -1 })).rejects.toThrow(RangeError);
});

test("toText() decodes across chunks like @std/streams: no byte order mark, U+FFFD for bad bytes", async () => {
  const chunks = [part(0xef, 0xbb), part(0xbf, 0x61, 0xc3), part(0xa9, 0xff)];
  expect(await toText(source(chunks), { maxBytes: 7 })).toBe("aé\ufffd");
  await expect(toText(source(chunks), { maxBytes: 6 })).rejects.toMatchObject({
    code: "stream_too_long",
  });
});
