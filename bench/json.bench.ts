/**
 * Strict parsing against JSON.parse, and canonical text against JSON.stringify, as ratios of times:
 * the median of several rounds, the two sides taking turns within each.
 */
import { cpus, loadavg } from "node:os";
import process from "node:process";
import { Bench } from "tinybench";
import { canonicalJson, parseJson } from "../lib/json/mod.ts";
import { parseWellFormed } from "../lib/json/parse-json.ts";

const ROUNDS = 7;
const DOCUMENTS = 256;
const INVOCATION = "0190a3c4-7b2e-7c11-8f00-0123456789ab";
const ATTEMPT = "0190a3c4-7b2e-7c11-9f00-0123456789ab";

const PAYLOADS: Record<string, (index: number) => unknown> = {
  plain: (index) => ({ n: index, text: "hello world token" }),
  "backslashes, é": (index) => ({ n: index, text: 'line\n"quoted" café tab\t' }),
  "backslashes, ☃": (index) => ({ n: index, text: 'line\n"quoted" café ☃ tab\t' }),
  colons: (index) => ({ n: index, at: "2025-01-02T03:04:05Z", url: "https://example.org:8080/a" }),
  "1 KiB": (index) => ({ items: Array.from({ length: 14 }, (_, id) => item(index + id)) }),
  fractions: (index) => ({
    n: index,
    seconds: 1735689600.125 + index,
    ratio: index / 7,
    at: "03:04",
  }),
};

function item(id: number): unknown {
  return { id, name: `item ${id}`, ok: id % 2 === 0, tags: ["a", "b"] };
}

function observation(index: number, payload: unknown): object {
  const ids = { invocation_id: INVOCATION, attempt_id: ATTEMPT };
  const params = {
    ...ids,
    sequence: index,
    kind: "sdk.event",
    monotonic_ns: 123_456_789 + index,
    payload,
  };
  return { jsonrpc: "2.0", method: "driver.observation", params };
}

/** Slices of one long string, as a decoder of lines hands them on. */
function frames(payload: (index: number) => unknown, space?: boolean): string[] {
  const texts = Array.from({ length: DOCUMENTS }, (_, index) => {
    const text = JSON.stringify(observation(index, payload(index)), null, space ? 1 : undefined);
    return text.replaceAll(/\n */g, " ");
  });
  const region = texts.join("\n");
  let at = 0;
  return texts.map((text) => region.slice(at, (at += text.length + 1) - 1));
}

let sink = 0;
async function ratio(
  base: () => unknown,
  subject: () => unknown,
): Promise<{ ratio: number; base: number }> {
  const ratios: number[] = [];
  const bases: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const bench = new Bench({ time: 60, warmupTime: round === 0 ? 100 : 10 });
    bench.add("base", () => void (sink += base() === undefined ? 1 : 0));
    bench.add("subject", () => void (sink += subject() === undefined ? 1 : 0));
    await bench.run();
    const [first, second] = bench.tasks.map((task) =>
      "latency" in task.result ? task.result.latency.p50 : NaN,
    );
    ratios.push(second! / first!);
    bases.push(first!);
  }
  return { ratio: median(ratios), base: (median(bases) / DOCUMENTS) * 1e6 };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

function each<T>(items: readonly T[], work: (item: T) => unknown): () => unknown {
  return () => {
    let last: unknown;
    for (const one of items) last = work(one);
    return last;
  };
}

function report(name: string, bytes: number, measured: { ratio: number; base: number }): void {
  const line = [
    name.padEnd(46),
    `${bytes} B`.padStart(7),
    `${measured.base.toFixed(0)} ns`.padStart(9),
  ];
  process.stdout.write(`${line.join("  ")}  x${measured.ratio.toFixed(2)}\n`);
}

const versions = process.versions;
const runtime = versions["bun"]
  ? `bun ${versions["bun"]}`
  : versions["deno"]
    ? `deno ${versions["deno"]}`
    : `node ${versions.node}`;
process.stdout.write(`${runtime}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}\n`);

for (const [name, payload] of Object.entries(PAYLOADS)) {
  const texts = frames(payload);
  const measured = await ratio(
    each(texts, (text) => JSON.parse(text)),
    each(texts, (text) => parseJson(text)),
  );
  report(`parseJson ÷ JSON.parse, ${name}`, texts[0]!.length, measured);
}
{
  // What strictJson({ wellFormed: true }) does with each text.
  const texts = frames(PAYLOADS["backslashes, ☃"]!);
  const measured = await ratio(
    each(texts, (text) => JSON.parse(text)),
    each(texts, (text) => parseWellFormed(text, 256)),
  );
  report("parseWellFormed, backslashes, ☃", texts[0]!.length, measured);
}
{
  const texts = frames(PAYLOADS["colons"]!, true);
  const measured = await ratio(
    each(texts, (text) => JSON.parse(text)),
    each(texts, (text) => parseJson(text)),
  );
  report("parseJson ÷ JSON.parse, blanks", texts[0]!.length, measured);
}
for (const name of ["plain", "1 KiB"]) {
  const unsorted = frames(PAYLOADS[name]!).map((text) => parseJson(text));
  const ordered = unsorted.map((value) => parseJson(canonicalJson(value)));
  for (const [order, values] of Object.entries({ ordered, unsorted })) {
    const measured = await ratio(
      each(values, (value) => JSON.stringify(value)),
      each(values, (value) => canonicalJson(value)),
    );
    report(
      `canonicalJson ÷ stringify, ${name}, ${order}`,
      canonicalJson(values[0]).length,
      measured,
    );
  }
}
if (sink < 0) process.stdout.write(String(sink));
