import { pipe } from "it-pipe";
import { expect, test } from "vitest";
import { toIterable } from "../../lib/stage/mod.ts";
import { BAD, script } from "./stages.ts";

// A source that writes down how it is used.
async function* source(chunks: readonly string[], log: string[] = []): AsyncGenerator<string> {
  try {
    for (const chunk of chunks) {
      log.push(`pull ${chunk}`);
      yield chunk;
    }
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

test("toIterable() stands in it-pipe and calls the end of the stage", async () => {
  const log: string[] = [];
  const seen = await pipe(
    source(["ab", "c"], log),
    toIterable(script()),
    toIterable(script(), { batch: true }),
    readAll,
  );
  expect(seen).toEqual({ values: [["a"], ["b"], ["c"], ["e", "n", "d"], ["end"]] });
  expect(log.at(-1)).toBe("released");
});

test("toIterable() takes synchronous sources", async () => {
  expect(await readAll(toIterable(script())(["ab", "c"]))).toEqual({
    values: ["a", "b", "c", "end"],
  });
});

test.each([true, false])(
  "toIterable() with batch %s delivers everything before a fault, throws it and releases the source",
  async (batch) => {
    const [log, ran]: [string[], string[]] = [[], []];
    const { values, error } = await readAll<unknown>(
      toIterable(script(ran), { batch })(source(["ab", "c!d", "e"], log)),
    );
    expect(values.flat()).toEqual(["a", "b", "c"]);
    expect(error).toBe(BAD);
    expect(ran.join("")).toBe("abc!");
    expect(log).toEqual(["pull ab", "pull c!d", "released"]);
  },
);

test("toIterable() delivers what a stage made before it threw, throws it and releases the source", async () => {
  const log: string[] = [];
  const seen = await readAll(toIterable(script(), { faults: "skip" })(source(["ab#c", "d"], log)));
  expect(seen).toEqual({ values: ["a", "b"], error: new Error("broken") });
  expect(log).toEqual(["pull ab#c", "released"]);
});

test("toIterable() skips faults and tells onFault, or emits them in their place", async () => {
  const faults: unknown[] = [];
  const skip = toIterable(script(), {
    faults: "skip",
    onFault: (fault) => void faults.push(fault),
  });
  expect(await readAll(skip(["a!b", "!"]))).toEqual({ values: ["a", "b", "end"] });
  expect(faults).toEqual([BAD, BAD]);
  expect(await readAll(toIterable(script(), { faults: "emit" })(["a!b"]))).toEqual({
    values: ["a", BAD, "b", "end"],
  });
});

test("toIterable() pulls the source only when it has nothing left to deliver", async () => {
  const log: string[] = [];
  const outputs = toIterable(script())(source(["ab", "c"], log));
  expect(log).toEqual([]);
  await outputs.next();
  await outputs.next();
  expect(log).toEqual(["pull ab"]);
  await outputs.next();
  expect(log).toEqual(["pull ab", "pull c"]);
  await outputs.return();
});

test("toIterable() releases the source and stops when the consumer returns or throws", async () => {
  for (const stop of ["return", "throw"] as const) {
    const [log, ran]: [string[], string[]] = [[], []];
    const outputs = toIterable(script(ran))(source(["ab", "c"], log));
    await outputs.next();
    const reason = new Error("enough");
    if (stop === "return") expect(await outputs.return()).toEqual({ done: true, value: undefined });
    else await expect(outputs.throw(reason)).rejects.toBe(reason);
    expect(log).toEqual(["pull ab", "released"]);
    expect(await outputs.next()).toEqual({ done: true, value: undefined });
    expect(ran.join("")).toBe("ab");
  }
});

test("toIterable() releases the source when the consumer stops before the first pull", async () => {
  const closed: string[] = [];
  const idle = (name: string): AsyncIterable<string> => ({
    [Symbol.asyncIterator]: () => ({
      next: () => expect.unreachable("nothing is to be read"),
      return: () => Promise.resolve({ done: true, value: closed.push(name) }),
    }),
  });
  await toIterable(script())(idle("a")).return();
  await expect(toIterable(script())(idle("b")).throw(new Error("enough"))).rejects.toThrow(
    "enough",
  );
  await toIterable(script())(idle("c"))[Symbol.asyncDispose]();
  expect(closed).toEqual(["a", "b", "c"]);
});

test("toIterable() throws what the source throws, after the outputs before it, without ending the stage", async () => {
  async function* failing(): AsyncGenerator<string> {
    yield "a";
    throw new Error("source");
  }
  expect(await readAll(toIterable(script())(failing()))).toEqual({
    values: ["a"],
    error: new Error("source"),
  });
});

test("toIterable() refuses a second source, as the stage holds state", () => {
  const transform = toIterable(script());
  transform([]);
  expect(() => transform([])).toThrow(TypeError);
});
