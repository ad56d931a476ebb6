import { expect, test } from "vitest";
import { FrameQueue } from "../../lib/rpc/frame-queue.ts";

const ignore = (): void => {};
const entry = (bytes: Uint8Array) => ({ bytes, resolve: ignore, reject: ignore });

test("FrameQueue gives everything back in order while it is filled and emptied", () => {
  const queue = new FrameQueue();
  const [pushed, taken]: [number[], number[]] = [[], []];
  for (let round = 0; round < 200; round += 1) {
    for (let k = 0; k < 40; k += 1) {
      const byte = (round * 40 + k) % 251;
      pushed.push(byte);
      queue.push(entry(new Uint8Array(5000).fill(byte)));
    }
    for (let k = 0; k < 3; k += 1) {
      const { frames, bytes } = queue.take();
      expect(bytes.length).toBe(frames.length * 5000);
      for (let at = 0; at < bytes.length; at += 5000) taken.push(bytes[at] ?? -1);
    }
    expect(queue.bytes).toBe(queue.size * 5000);
  }
  for (const { bytes } of queue.clear()) taken.push(bytes[0] ?? -1);
  expect(taken).toEqual(pushed);
  expect([queue.size, queue.bytes]).toEqual([0, 0]);
});
