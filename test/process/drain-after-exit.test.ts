import { expect, test } from "vitest";
import { boundedAfterExit } from "../../lib/process/drain-after-exit.ts";
import type { PipeCut } from "../../lib/process/drain-after-exit.ts";
import { VirtualClock } from "../../lib/testing/virtual-clock.ts";

function setup(bytes = 100) {
  const clock = new VirtualClock();
  const exit = Promise.withResolvers<void>();
  const cuts: PipeCut[] = [];
  let feed!: ReadableStreamDefaultController<Uint8Array>;
  const state = { pulls: 0, cancelled: false };
  const source = new ReadableStream<Uint8Array>(
    {
      start: (controller) => void (feed = controller),
      pull: () => void (state.pulls += 1),
      cancel: () => void (state.cancelled = true),
    },
    { highWaterMark: 0 },
  );
  const onCut = (cut: PipeCut): void => void cuts.push(cut);
  const pipe = boundedAfterExit(source, exit.promise, { clock, grace: 500, bytes, onCut });
  const leave = async (): Promise<void> => {
    exit.resolve();
    await exit.promise;
    await Promise.resolve();
  };
  return { clock, cuts, feed, state, reader: pipe.getReader(), leave };
}

test("boundedAfterExit() reads only when asked", async () => {
  const { feed, reader, state } = setup();
  await Promise.resolve();
  expect(state.pulls).toBe(0);
  const read = reader.read();
  await Promise.resolve();
  expect(state.pulls).toBe(1);
  feed.enqueue(new Uint8Array([1]));
  expect((await read).value).toEqual(new Uint8Array([1]));
  expect(state.pulls).toBe(1);
});

test("boundedAfterExit() sets no timer and no bound before the exit", async () => {
  const { clock, cuts, feed, reader } = setup(2);
  const read = reader.read();
  clock.advance(60_000);
  feed.enqueue(new Uint8Array(50));
  expect((await read).value).toHaveLength(50);
  expect(clock.pending).toBe(0);
  expect(cuts).toEqual([]);
});

test("boundedAfterExit() ends a read that waits for the whole grace after the exit", async () => {
  const { clock, cuts, leave, reader, state } = setup();
  const read = reader.read();
  await leave();
  clock.advance(500);
  expect(await read).toEqual({ done: true, value: undefined });
  expect(cuts).toEqual([{ reason: "idle", bytes: 0 }]);
  expect(state.cancelled).toBe(true);
});

test("boundedAfterExit() counts only time in which a read waits, anew after each chunk", async () => {
  const { clock, cuts, feed, leave, reader } = setup();
  await leave();
  clock.advance(10_000);
  for (let round = 0; round < 3; round += 1) {
    const read = reader.read();
    await Promise.resolve();
    clock.advance(499);
    feed.enqueue(new Uint8Array([round]));
    expect((await read).value).toEqual(new Uint8Array([round]));
    clock.advance(10_000);
  }
  feed.close();
  expect((await reader.read()).done).toBe(true);
  expect([cuts, clock.pending]).toEqual([[], 0]);
});

test("boundedAfterExit() cuts a pipe that gives more than the bound after the exit", async () => {
  const { cuts, feed, leave, reader, state } = setup(10);
  await leave();
  const first = reader.read();
  feed.enqueue(new Uint8Array(8));
  expect((await first).value).toHaveLength(8);
  const second = reader.read();
  feed.enqueue(new Uint8Array(8));
  expect((await second).value).toHaveLength(2);
  expect((await reader.read()).done).toBe(true);
  expect(cuts).toEqual([{ reason: "bytes", bytes: 10 }]);
  expect(state.cancelled).toBe(true);
});

test("boundedAfterExit() passes errors and cancellation on and leaves no timer", async () => {
  const broken = setup();
  const read = broken.reader.read();
  await broken.leave();
  broken.feed.error(new Error("broken"));
  await expect(read).rejects.toThrow("broken");
  expect(broken.clock.pending).toBe(0);
  const cancelled = setup();
  const waiting = cancelled.reader.read();
  await cancelled.leave();
  await cancelled.reader.cancel();
  expect((await waiting).done).toBe(true);
  expect([cancelled.state.cancelled, cancelled.clock.pending]).toEqual([true, 0]);
});
