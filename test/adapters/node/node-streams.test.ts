import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { bridgeReadable } from "../../../adapters/node/node-streams.ts";

const CHUNK = 64 * 1024;

/** Reads all of a full stream; gives the bytes that were read when the event loop came round first. */
async function readAll(turnBytes: number | undefined): Promise<{ turn: number; total: number }> {
  const stream = new PassThrough({ highWaterMark: 32 * CHUNK });
  const { readable } = bridgeReadable(stream, { turnBytes });
  const reader = readable.getReader();
  stream.write(new Uint8Array(CHUNK));
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 5));
  let total = 0;
  let turn: number | undefined;
  // Each chunk is written when the one before was read: there is always more, as from a fast peer.
  setImmediate(() => (turn = total));
  for (let count = 0; count < 16; count += 1) {
    stream.write(new Uint8Array(CHUNK));
    total += (await reader.read()).value!.length;
  }
  await reader.cancel();
  await new Promise((resolve) => setTimeout(resolve, 5));
  return { turn: turn!, total };
}

test("bridgeReadable({ turnBytes }) lets the event loop look at other pipes in between", async () => {
  const { turn, total } = await readAll(2 * CHUNK);
  expect(total).toBe(16 * CHUNK);
  expect(turn).toBeGreaterThan(0);
  expect(turn).toBeLessThanOrEqual(3 * CHUNK);
});

test("bridgeReadable() without it loses nothing of a fast peer", async () => {
  expect((await readAll(undefined)).total).toBe(16 * CHUNK);
});
