/**
 * What the stages and their faces cost: fused stages and stream faces against one push loop that
 * does the same work by hand, and framing alone against its floor. Every task takes its turn in each
 * round, and its best time counts, as others may use the machine; more is better, 1 is the loop.
 *
 * Run: `node --conditions=sluice:source bench/stage.bench.ts`, `deno run -A bench/stage.bench.ts`,
 * `bun bench/stage.bench.ts`.
 */
import { lines } from "../lib/frames/mod.ts";
import { fuse, type Sink, type Stage, toTransformStream } from "../lib/stage/mod.ts";
import { cutUp } from "./support/bytes.ts";
import { reportAll, type Scenario, type Task } from "./support/rounds.ts";

const TOTAL_BYTES = 4 * 1024 * 1024;

interface Frame {
  readonly n: number;
}

const ndjson = chunksOf(
  (k) =>
    `{"jsonrpc":"2.0","method":"driver.observation","params":{"sequence":${k},"kind":"${"x".repeat(110)}"},"n":${k}}\n`,
);

const scenarios: Readonly<Record<string, Scenario>> = {
  "4 stages with JSON.parse, ~200 B frames": fourStages(
    ndjson,
    (line) => JSON.parse(line) as Frame,
  ),
  "4 stages without work, ~200 B frames": fourStages(ndjson, (line) => ({ n: line.length })),
  "lines() + JSON.parse, ~200 B frames": {
    "floor: JSON.parse of slices of decoded strings": floor(
      ndjson.map((chunk) => new TextDecoder().decode(chunk)),
    ),
    "lines()": () =>
      sumStage(
        fuse(
          lines(),
          each<string, Frame>((line) => JSON.parse(line) as Frame),
        ),
        ndjson,
      ),
  },
};

await reportAll(scenarios);

function fourStages(chunks: readonly Uint8Array[], parse: (line: string) => Frame): Scenario {
  const check = (frame: Frame): Frame => {
    if (typeof frame.n !== "number") throw new TypeError("n is no number");
    return frame;
  };
  const arrays = (): Stage<Uint8Array, number> =>
    fuse(
      lines(),
      each(parse),
      each(check),
      each<Frame, number>((frame) => frame.n),
    );
  const singles = (): Stage<Uint8Array, number> =>
    fuse(
      lines(),
      single(parse),
      single(check),
      single<Frame, number>((frame) => frame.n),
    );
  return {
    "one push loop": () => pushLoop(chunks, (line) => check(parse(line)).n),
    "fused, arrays": () => sumStage(arrays(), chunks),
    "fused, single values": () => sumStage(singles(), chunks),
    "toTransformStream, batch": async () => {
      let sum = 0;
      for await (const batch of from(chunks).pipeThrough(
        toTransformStream(arrays(), { batch: true }),
      )) {
        for (const n of batch) sum += n;
      }
      return sum;
    },
    "toTransformStream, single": async () => {
      let sum = 0;
      for await (const n of from(chunks).pipeThrough(toTransformStream(arrays()))) sum += n;
      return sum;
    },
    "TransformStream by hand, arrays": async () => {
      let sum = 0;
      for await (const batch of from(chunks).pipeThrough(byHand(arrays())))
        for (const n of batch) sum += n;
      return sum;
    },
  };
}

/** All steps in one function, with the usual way to carry text. */
function pushLoop(chunks: readonly Uint8Array[], step: (line: string) => number): number {
  const decoder = new TextDecoder();
  let [carry, sum] = ["", 0];
  for (const chunk of chunks) {
    const text = carry + decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      sum += step(text.slice(start, end));
      start = end + 1;
    }
    carry = text.slice(start);
  }
  return sum;
}

/** The least that NDJSON can cost: the text is there, the lines are sliced and parsed. */
function floor(texts: readonly string[]): Task {
  return () => {
    let [carry, sum] = ["", 0];
    for (const text of texts) {
      let start = 0;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
        const line = start === 0 ? carry + text.slice(0, end) : text.slice(start, end);
        sum += (JSON.parse(line) as Frame).n;
        start = end + 1;
      }
      carry = text.slice(start);
    }
    return sum;
  };
}

function sumStage(stage: Stage<Uint8Array, number | Frame>, chunks: readonly Uint8Array[]): number {
  let sum = 0;
  const sink: Sink<number | Frame> = {
    open: true,
    next: (values) => {
      for (const value of values) sum += typeof value === "number" ? value : value.n;
    },
    fail: refuse,
  };
  for (const chunk of chunks) stage.push([chunk], sink);
  stage.end(sink);
  return sum;
}

/** A stage over arrays. */
function each<I, O>(step: (input: I) => O): Stage<I, O> {
  return {
    push(inputs, sink) {
      const outputs: O[] = [];
      for (const input of inputs) {
        if (!sink.open) return;
        outputs.push(step(input));
      }
      sink.next(outputs);
    },
    end: () => undefined,
  };
}

/** The same stage, one output a batch. */
function single<I, O>(step: (input: I) => O): Stage<I, O> {
  return {
    push(inputs, sink) {
      for (const input of inputs) {
        if (!sink.open) return;
        sink.next([step(input)]);
      }
    },
    end: () => undefined,
  };
}

/** What `toTransformStream` is measured against besides: no order of faults, no bound beyond the queue. */
function byHand<O>(stage: Stage<Uint8Array, O>): TransformStream<Uint8Array, readonly O[]> {
  let sink: Sink<O>;
  return new TransformStream<Uint8Array, readonly O[]>({
    start(controller) {
      sink = { open: true, next: (outputs) => controller.enqueue(outputs), fail: refuse };
    },
    transform: (chunk) => stage.push([chunk], sink),
    flush: () => stage.end(sink),
  });
}

function from(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (next === chunks.length) controller.close();
        else controller.enqueue(chunks[next++]!);
      },
    },
    { highWaterMark: 0 },
  );
}

function chunksOf(line: (k: number) => string): Uint8Array[] {
  let text = "";
  for (let k = 0; text.length < TOTAL_BYTES; k += 1) text += line(k);
  return cutUp([new TextEncoder().encode(text)]);
}

function refuse(fault: Error): never {
  throw fault;
}
