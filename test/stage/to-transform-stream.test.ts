import { expect, test } from "vitest";
import { toTransformStream } from "../../lib/stage/mod.ts";
import { BAD, each, script } from "./stages.ts";

/** Lets everything run that does not wait for somebody. */
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

function source(chunks: readonly string[], log: unknown[] = []): ReadableStream<string> {
  let next = 0;
  return new ReadableStream<string>(
    {
      pull(controller) {
        if (next === chunks.length) return controller.close();
        log.push(`pull ${chunks[next]}`);
        controller.enqueue(chunks[next]!);
        next += 1;
      },
      cancel: (reason) => void log.push(reason),
    },
    { highWaterMark: 0 },
  );
}

async function readAll<T>(readable: ReadableStream<T>): Promise<{ values: T[]; error?: unknown }> {
  const values: T[] = [];
  try {
    for await (const value of readable) values.push(value);
    return { values };
  } catch (error) {
    return { values, error };
  }
}

test("toTransformStream() delivers single outputs, and what the end makes", async () => {
  const readable = source(["ab", "", "c"]).pipeThrough(toTransformStream(script()));
  expect(await readAll(readable)).toEqual({ values: ["a", "b", "c", "end"] });
});

test("toTransformStream() with batch delivers the arrays of the stage", async () => {
  const readable = source(["abc", "", "d"]).pipeThrough(
    toTransformStream(script(), { batch: true }),
  );
  expect(await readAll(readable)).toEqual({ values: [["a", "b", "c"], ["d"], ["end"]] });
});

test.each([true, false])(
  "toTransformStream() with batch %s delivers everything before a fault, then errors with it and releases the source",
  async (batch) => {
    const [log, ran]: [unknown[], string[]] = [[], []];
    const readable = source(["ab", "cd!e", "f"], log).pipeThrough(
      toTransformStream(script(ran), { batch }),
    );
    const { values, error } = await readAll<unknown>(readable);
    expect(values.flat()).toEqual(["a", "b", "c", "d"]);
    expect(error).toBe(BAD);
    expect(ran.join("")).toBe("abcd!");
    await settle();
    expect(log).toEqual(["pull ab", "pull cd!e", BAD]);
  },
);

test("toTransformStream() delivers everything before a fault to a slow reader", async () => {
  const readable = source(["abc!"]).pipeThrough(toTransformStream(script()));
  const reader = readable.getReader();
  for (const letter of "abc") {
    await settle();
    expect(await reader.read()).toEqual({ done: false, value: letter });
  }
  await expect(reader.read()).rejects.toBe(BAD);
  await expect(reader.closed).rejects.toBe(BAD);
});

test("toTransformStream() errors its writable side once everything before the fault was taken", async () => {
  const { readable, writable } = toTransformStream(script());
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  const write = writer.write("ab!");
  writer.closed.catch(() => undefined);
  expect(await state(write)).toBe("pending");
  await reader.read();
  expect(await state(write)).toBe("pending");
  await reader.read();
  expect(await state(write)).toEqual({ error: BAD });
  await expect(writer.write("c")).rejects.toBe(BAD);
  await expect(reader.read()).rejects.toBe(BAD);
});

test("toTransformStream() delivers what a stage made before it threw, then errors", async () => {
  const log: unknown[] = [];
  const readable = source(["ab", "c#d", "e"], log).pipeThrough(
    toTransformStream(script(), { faults: "skip" }),
  );
  const { values, error } = await readAll(readable);
  expect(values).toEqual(["a", "b", "c"]);
  expect(error).toEqual(new Error("broken"));
  await settle();
  expect(log).toEqual(["pull ab", "pull c#d", error]);
});

test("toTransformStream() errors when the end of the stage throws, after what it made", async () => {
  const stage = each<string, string>((text) => text);
  stage.end = (sink) => script().push(["z#"], sink);
  const { values, error } = await readAll(source(["a"]).pipeThrough(toTransformStream(stage)));
  expect(values).toEqual(["a", "z"]);
  expect(error).toEqual(new Error("broken"));
});

test("toTransformStream() skips faults and tells onFault", async () => {
  const faults: unknown[] = [];
  const face = toTransformStream(script(), {
    faults: "skip",
    onFault: (fault) => void faults.push(fault),
  });
  expect(await readAll(source(["a!b", "!", "!c"]).pipeThrough(face))).toEqual({
    values: ["a", "b", "c", "end"],
  });
  expect(faults).toEqual([BAD, BAD, BAD]);
});

test("toTransformStream() ends with what onFault throws, after what came before", async () => {
  const enough = new Error("enough");
  const onFault = (): void => {
    throw enough;
  };
  const readable = source(["a!b"]).pipeThrough(
    toTransformStream(script(), { faults: "skip", onFault }),
  );
  expect(await readAll(readable)).toEqual({ values: ["a"], error: enough });
});

test("toTransformStream() emits faults in their place", async () => {
  const single = source(["a!b", "!"]).pipeThrough(toTransformStream(script(), { faults: "emit" }));
  expect(await readAll(single)).toEqual({ values: ["a", BAD, "b", BAD, "end"] });
  const arrays = source(["ac!b"]).pipeThrough(
    toTransformStream(script(), { faults: "emit", batch: true }),
  );
  expect(await readAll(arrays)).toEqual({ values: [["a", "c"], [BAD], ["b"], ["end"]] });
});

test("toTransformStream() resolves a write when its outputs were taken, and holds one chunk's at most", async () => {
  const ran: string[] = [];
  const { readable, writable } = toTransformStream(script(ran));
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  const first = writer.write("abc");
  const second = writer.write("d");
  for (const letter of "abc") {
    expect(await state(first)).toBe("pending");
    expect(ran.join("")).toBe("abc");
    expect(await reader.read()).toEqual({ done: false, value: letter });
  }
  expect(await state(first)).toEqual({ value: undefined });
  expect(await state(second)).toBe("pending");
  const close = writer.close();
  expect((await reader.read()).value).toBe("d");
  expect(await state(close)).toBe("pending");
  expect((await reader.read()).value).toBe("end");
  expect(await reader.read()).toEqual({ done: true, value: undefined });
  expect(await state(close)).toEqual({ value: undefined });
});

test("toTransformStream() reads nothing ahead for a reader that does not read", async () => {
  const log: unknown[] = [];
  const readable = source(["ab", "cd", "ef"], log).pipeThrough(toTransformStream(script()));
  await settle();
  expect(log).toEqual(["pull ab"]);
  const reader = readable.getReader();
  await reader.read();
  await settle();
  expect(log).toEqual(["pull ab"]);
  await reader.cancel();
});

test("toTransformStream() serves several reads at a time in order", async () => {
  const { readable, writable } = toTransformStream(script());
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  const reads = [1, 2, 3, 4, 5].map(() => reader.read());
  await settle();
  const writes = [writer.write("abc"), writer.write(""), writer.write("de"), writer.close()];
  const letters = (await Promise.all(reads)).map((read) => read.value);
  expect(letters).toEqual(["a", "b", "c", "d", "e"]);
  expect((await reader.read()).value).toBe("end");
  expect((await reader.read()).done).toBe(true);
  await Promise.all(writes);
});

test("toTransformStream() does not take outputs for taken that wait behind several reads", async () => {
  const { readable, writable } = toTransformStream(script());
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  const reads = [1, 2, 3].map(() => reader.read());
  await settle();
  const write = writer.write("abcde");
  await Promise.all(reads);
  expect(await state(write)).toBe("pending");
  expect((await reader.read()).value).toBe("d");
  expect(await state(write)).toBe("pending");
  expect((await reader.read()).value).toBe("e");
  expect(await state(write)).toEqual({ value: undefined });
});

test.each(["a!", "ab!"])(
  "toTransformStream() keeps %s for the next reader when one let go",
  async (text) => {
    const { readable, writable } = toTransformStream(script());
    const reader = readable.getReader();
    reader.read().catch(() => undefined);
    await settle();
    reader.releaseLock();
    const writer = writable.getWriter();
    writer.closed.catch(() => undefined);
    writer.write(text).catch(() => undefined);
    await settle();
    const { values, error } = await readAll(readable);
    expect(values.join("")).toBe(text.slice(0, -1));
    expect(error).toBe(BAD);
  },
);

test("toTransformStream() rejects writes after its reader cancelled between two of them", async () => {
  const { readable, writable } = toTransformStream(script());
  const writer = writable.getWriter();
  writer.closed.catch(() => undefined);
  await writer.write("");
  const reason = new Error("enough");
  await readable.cancel(reason);
  await expect(writer.write("a")).rejects.toBe(reason);
});

test("toTransformStream() stops the stage and releases the source when its reader cancels", async () => {
  const [log, ran]: [unknown[], string[]] = [[], []];
  const readable = source(["ab", "cd"], log).pipeThrough(toTransformStream(script(ran)));
  const reader = readable.getReader();
  await reader.read();
  const reason = new Error("enough");
  await reader.cancel(reason);
  await settle();
  expect(log).toEqual(["pull ab", reason]);
  expect(ran.join("")).toBe("ab");
});

test("toTransformStream() rejects a write under way, and later ones, when its reader cancels", async () => {
  const { readable, writable } = toTransformStream(script());
  const writer = writable.getWriter();
  writer.closed.catch(() => undefined);
  const write = writer.write("ab");
  expect(await state(write)).toBe("pending");
  const reason = new Error("enough");
  await readable.cancel(reason);
  expect(await state(write)).toEqual({ error: reason });
  await expect(writer.write("c")).rejects.toBe(reason);
});

test("toTransformStream() errors its readable side at once when the writable side is aborted", async () => {
  const { readable, writable } = toTransformStream(script());
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  writer.closed.catch(() => undefined);
  const write = writer.write("ab");
  write.catch(() => undefined);
  await settle();
  const reason = new Error("gone");
  await writer.abort(reason);
  await expect(reader.read()).rejects.toBe(reason);
  await expect(write).rejects.toBe(reason);
});

test("toTransformStream() passes a failure of the source on, once what it held is lost or taken", async () => {
  const broken = new Error("source");
  let sent = false;
  const failing = new ReadableStream<string>({
    pull(controller) {
      if (sent) controller.error(broken);
      else controller.enqueue("a");
      sent = true;
    },
  });
  const { error } = await readAll(failing.pipeThrough(toTransformStream(script())));
  expect(error).toBe(broken);
});

test("toTransformStream() refuses wrong options", () => {
  expect(() => toTransformStream(script(), { faults: "drop" as "skip" })).toThrow(TypeError);
  expect(() => toTransformStream(script(), { onFault: () => undefined })).toThrow(TypeError);
});
