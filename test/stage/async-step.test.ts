import { pipe } from "it-pipe";
import { expect, test } from "vitest";
import { asyncStep, toIterable, type AsyncStep } from "../../lib/stage/mod.ts";
import { script } from "./stages.ts";

const settle = async (): Promise<void> => {
  for (let k = 0; k < 3; k += 1) await new Promise((resolve) => setTimeout(resolve, 0));
};

/** A step whose batches wait until the test lets them go. */
function gated(): {
  step: AsyncStep<number, number>;
  started: number[];
  gates: Map<number, PromiseWithResolvers<void>>;
} {
  const started: number[] = [];
  const gates = new Map<number, PromiseWithResolvers<void>>();
  const step: AsyncStep<number, number> = async (batch) => {
    const gate = Promise.withResolvers<void>();
    started.push(batch[0]!);
    gates.set(batch[0]!, gate);
    await gate.promise;
    return batch.map((n) => n * 10);
  };
  return { step, started, gates };
}

function* numbers(count: number, log: string[] = []): Generator<readonly number[]> {
  try {
    for (let n = 0; n < count; n += 1) yield [n];
  } finally {
    log.push("released");
  }
}

async function readAll<T>(outputs: AsyncIterable<T>): Promise<{ values: T[]; error?: unknown }> {
  const values: T[] = [];
  try {
    for await (const value of outputs) values.push(value);
    return { values };
  } catch (error) {
    return { values, error };
  }
}

test("asyncStep() keeps the order of the batches, whichever is ready first", async () => {
  const { step, gates } = gated();
  const all = readAll(asyncStep(step)(numbers(4)));
  await settle();
  for (const n of [2, 3, 1, 0]) {
    gates.get(n)?.resolve();
    await settle();
  }
  expect(await all).toEqual({ values: [[0], [10], [20], [30]] });
});

test.each([1, 3, 16, undefined])(
  "asyncStep() with inFlight %s has that many batches under way (16 by default)",
  async (inFlight) => {
    const { step, started, gates } = gated();
    const outputs = asyncStep(step, { inFlight })(numbers(100));
    await settle();
    expect(started.length).toBe(0);
    const first = outputs.next();
    await settle();
    const most = inFlight ?? 16;
    expect(started.length).toBe(most);
    gates.get(0)?.resolve();
    expect((await first).value).toEqual([0]);
    await settle();
    expect(started.length).toBe(most);
    const second = outputs.next();
    await settle();
    expect(started.length).toBe(most + 1);
    gates.get(1)?.resolve();
    await second;
    await outputs.return();
  },
);

test("asyncStep() delivers the oldest result while the source is silent", async () => {
  async function* silent(): AsyncGenerator<readonly number[]> {
    yield [1];
    await new Promise(() => undefined);
  }
  const outputs = asyncStep((batch: readonly number[]) => batch)(silent());
  expect((await outputs.next()).value).toEqual([1]);
});

test("asyncStep() throws a failed batch in its place, starts nothing after it and releases the source", async () => {
  for (const asynchronous of [true, false]) {
    const [log, started]: [string[], number[]] = [[], []];
    const step: AsyncStep<number, number> = ([n]) => {
      started.push(n!);
      if (n !== 3) return [n!];
      if (asynchronous) return Promise.reject(new Error("three"));
      throw new Error("three");
    };
    const seen = await readAll(asyncStep(step, { inFlight: 2 })(numbers(100, log)));
    expect(seen).toEqual({ values: [[0], [1], [2]], error: new Error("three") });
    expect(started.length).toBeLessThanOrEqual(5);
    expect(log).toEqual(["released"]);
  }
});

test("asyncStep() starts nothing once a later batch failed, and still delivers the one before it", async () => {
  async function* slow(): AsyncGenerator<readonly number[]> {
    for (let n = 0; n < 100; n += 1) {
      await settle();
      yield [n];
    }
  }
  const started: number[] = [];
  const gate = Promise.withResolvers<void>();
  const step: AsyncStep<number, number> = async (batch) => {
    started.push(batch[0]!);
    if (batch[0] === 1) throw new Error("one");
    await gate.promise;
    return batch;
  };
  const all = readAll(asyncStep(step)(slow()));
  for (let k = 0; k < 8; k += 1) await settle();
  expect(started).toEqual([0, 1]);
  gate.resolve();
  expect(await all).toEqual({ values: [[0]], error: new Error("one") });
});

test("asyncStep() throws what the source throws after the results before it", async () => {
  function* failing(): Generator<readonly number[]> {
    yield* [[1], [2]];
    throw new Error("source");
  }
  const step: AsyncStep<number, number> = (batch) => Promise.resolve(batch);
  expect(await readAll(asyncStep(step)(failing()))).toEqual({
    values: [[1], [2]],
    error: new Error("source"),
  });
});

test("asyncStep() releases the source when the consumer stops, before and after the first pull", async () => {
  for (const pulls of [0, 1]) {
    const log: string[] = [];
    const source = numbers(100, log);
    const outputs = asyncStep((batch: readonly number[]) => batch, { inFlight: 2 })(source);
    for (let k = 0; k < pulls; k += 1) await outputs.next();
    await outputs.return();
    expect(source.next()).toEqual({ done: true, value: undefined });
    expect(log).toEqual(pulls === 0 ? [] : ["released"]);
  }
});

test("asyncStep() fails although the source never answers the read under way", async () => {
  async function* silent(): AsyncGenerator<readonly number[]> {
    yield [1];
    await new Promise(() => undefined);
  }
  const step: AsyncStep<number, number> = async () => {
    await settle();
    throw new Error("step");
  };
  expect(await readAll(asyncStep(step)(silent()))).toEqual({
    values: [],
    error: new Error("step"),
  });
});

test("asyncStep() follows toIterable() in it-pipe", async () => {
  const upper: AsyncStep<string, string> = (batch) =>
    Promise.resolve(batch.map((text) => text.toUpperCase()));
  const { values } = await pipe(
    ["ab", "c"],
    toIterable(script(), { batch: true }),
    asyncStep(upper),
    readAll,
  );
  expect(values).toEqual([["A", "B"], ["C"], ["END"]]);
});

test("asyncStep() refuses a wrong inFlight", () => {
  expect(() => asyncStep((batch: readonly number[]) => batch, { inFlight: 0 })).toThrow(RangeError);
});
