import { expect, test } from "vitest";
import { VirtualClock } from "../../lib/testing/virtual-clock.ts";

test("VirtualClock fires timers in the order of their due times, then of creation", () => {
  const clock = new VirtualClock(100);
  const fired: string[] = [];
  const note = (name: string) => () => void fired.push(`${name}@${clock.now()}`);
  clock.setTimer(note("c"), 30);
  clock.setTimer(note("a"), 10);
  clock.setTimer(note("b"), 10);
  expect(clock.pending).toBe(3);
  clock.advance(9);
  expect(fired).toEqual([]);
  clock.advance(1);
  expect(fired).toEqual(["a@110", "b@110"]);
  clock.advance(1000);
  expect(fired).toEqual(["a@110", "b@110", "c@130"]);
  expect(clock.now()).toBe(1110);
  expect(clock.pending).toBe(0);
});

test("VirtualClock fires a timer once, and not after cancel", () => {
  const clock = new VirtualClock();
  let fired = 0;
  const timer = clock.setTimer(() => (fired += 1), 5);
  const other = clock.setTimer(() => (fired += 1), 5);
  other.cancel();
  other.cancel();
  clock.advance(5);
  clock.advance(5);
  timer.cancel();
  expect(fired).toBe(1);
});

test("VirtualClock fires timers that are set while it advances", () => {
  const clock = new VirtualClock();
  const at: number[] = [];
  const again = (): void => {
    at.push(clock.now());
    if (at.length < 5) clock.setTimer(again, 10);
  };
  clock.setTimer(again, 10);
  clock.advance(35);
  expect(at).toEqual([10, 20, 30]);
  expect(clock.pending).toBe(1);
});

test("VirtualClock takes delays beyond 2^31 ms", () => {
  const clock = new VirtualClock();
  let fired = false;
  clock.setTimer(() => (fired = true), 2 ** 40);
  clock.advance(2 ** 40 - 1);
  expect(fired).toBe(false);
  clock.advance(1);
  expect(fired).toBe(true);
});

test("VirtualClock refuses to go back", () => {
  const clock = new VirtualClock();
  for (const delay of [-1, NaN, Infinity]) expect(() => clock.advance(delay)).toThrow(RangeError);
});
