import { expect, test } from "vitest";
import { runSession } from "../../adapters/cli/run-session.ts";
import type { SessionRequest, StepResult } from "../../adapters/cli/session-types.ts";
import { DRIVERS, pathOf } from "./support/cli.ts";
import { outputs } from "./support/streams.ts";

const TIMEOUT = 20_000;
const request: SessionRequest = { command: DRIVERS.python, permissions: "requested" };
const inputHandle = { kind: "pipe", value: pathOf("package.json") } as const;

test(
  "runSession() draws a status line on a terminal and takes it away",
  { timeout: TIMEOUT },
  async () => {
    const streams = outputs({ isTTY: true, columns: 60 });
    const steps = [{ operation: "count", cancelAfter: 400, total: 1000 }];
    expect(await runSession({ ...request, steps }, streams)).toMatchObject({ exitCode: 0 });
    const drawn = streams.stdout.text.split("\r\u001b[2K").slice(1);
    const bars = drawn.filter((text) => text.startsWith("[-----"));
    expect(bars.length).toBeGreaterThan(1);
    expect(bars.length).toBeLessThan(10);
    expect(bars[0]).toMatch(/^\[-{20}\] +\d% count {2}\d+ observations/);
    expect(bars.every((text) => text.length < 60)).toBe(true);
    expect(drawn.at(-1)).toMatch(/^count: cancelled, as expected/);
    expect(streams.stdout.text).not.toContain("started");
  },
);

test(
  "runSession() without a terminal prints a line every 1000 observations",
  { timeout: TIMEOUT },
  async () => {
    const streams = outputs();
    const handle = { kind: "pipe", value: pathOf("package-lock.json") } as const;
    const steps = [{ operation: "tokenise", inputHandle: handle }];
    const { results } = await runSession({ ...request, steps }, streams);
    const lines = streams.stdout.text.match(/^tokenise: [\d,]+000 observations/gm);
    expect(lines?.length).toBe(Math.floor((results[0]?.observations ?? 0) / 1000));
    expect(streams.stdout.text).not.toContain("\u001b");
  },
);

test(
  "runSession() hands each step its observations and its result",
  { timeout: TIMEOUT },
  async () => {
    const kinds: string[] = [];
    let checked: StepResult | undefined;
    const step = {
      operation: "tokenise",
      inputHandle,
      onObservation: ({ kind }: { readonly kind: string }) => void kinds.push(kind),
      check: (result: StepResult) => void (checked = result),
    };
    const outcome = await runSession({ ...request, steps: [step], view: "quiet" }, outputs());
    expect(outcome).toMatchObject({ exitCode: 0, failure: undefined, stop: undefined });
    expect(kinds.at(-1)).toBe("input.digest");
    expect(checked).toMatchObject({
      observations: kinds.length,
      completion: { status: "completed" },
    });
  },
);

test.each([
  [
    "a handler that throws",
    { onObservation: () => Promise.reject(new Error("not what I wanted")) },
    "not what I wanted",
  ],
  ["a check that objects", { check: () => "one is missing" }, "one is missing"],
  [
    "another status than expected",
    { expect: ["errored"] },
    "the driver ended it as completed, but errored was expected",
  ],
] as const)(
  "runSession() fails a step because of %s",
  { timeout: TIMEOUT },
  async (_name, part, problem) => {
    const streams = outputs();
    const steps = [{ operation: "tokenise", inputHandle, ...part }];
    const outcome = await runSession({ ...request, steps, view: "quiet" }, streams);
    expect(outcome).toMatchObject({ exitCode: 1, results: [{ problem }] });
    expect(outcome.end?.exit).toStrictEqual({ code: 0, signal: null });
    expect(streams.stderr.text).toBe(`sluice: tokenise: ${problem}\n`);
  },
);

test(
  "runSession() leaves the process's signals as it found them",
  { timeout: TIMEOUT },
  async () => {
    const before = process.listenerCount("SIGINT");
    await runSession({ ...request, view: "quiet" }, outputs());
    expect(process.listenerCount("SIGINT")).toBe(before);
  },
);
