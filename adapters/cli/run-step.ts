import type { ByteSource } from "../../lib/driver/companion/mod.ts";
import { TerminalStatus } from "../../lib/driver/contract/completed.ts";
import type { Driver } from "../../lib/driver/session/driver.ts";
import type { Completion, Run } from "../../lib/driver/session/run.ts";
import { isSluiceError, type SluiceError, toSluiceError } from "../../lib/errors.ts";
import { nodeClock } from "../node/node-clock.ts";
import { DataSink } from "./data-sink.ts";
import type { Reporter } from "./reporter.ts";
import type { Step, StepResult } from "./session-types.ts";

/** Around a step: who is told, what stops it, and where its data streams are kept. */
export interface StepContext {
  readonly reporter: Reporter;
  readonly stopped: AbortSignal;
  readonly dataDir: string | undefined;
}

/** Runs one operation to its end; never rejects. */
export async function runStep(
  driver: Driver,
  step: Step,
  { reporter, stopped, dataDir }: StepContext,
): Promise<StepResult> {
  const start = nodeClock.now();
  const before = driver.stats.bytesIn;
  const bytes = (): number => driver.stats.bytesIn - before;
  const { operation } = step;
  const consumed: Consumed = { observations: 0, input: 0, problem: undefined };
  const note = (error: unknown): void => void (consumed.problem ??= messageOf(error));
  const taken = (bytesTaken: number): void => void (consumed.input += bytesTaken);
  const sink = new DataSink({
    operation,
    folder: dataDir,
    onData: (data) => {
      reporter.data(step, data);
      if (data.error === undefined) attempt(() => step.onData?.(data), note);
    },
  });
  reporter.started(step, () => bytes() + sink.bytes);
  const { run, release } = invoke(driver, step, { stopped, taken, note });
  await consume(run, { step, reporter, sink, consumed });
  const ending = await ended(run);
  release();
  await sink.finish();
  const result: StepResult = {
    operation,
    invocationId: run.invocationId,
    ...ending,
    observations: consumed.observations,
    bytes: bytes(),
    data: { streams: sink.streams, in: sink.bytes, out: consumed.input },
    milliseconds: nodeClock.now() - start,
    problem:
      consumed.problem ??
      (stopped.aborted ? "it was stopped" : (problemOf(ending, step) ?? faultOf(sink, ending))),
  };
  if (result.problem !== undefined) return result;
  const problem = attempt(() => step.check?.(result), note) ?? consumed.problem;
  return { ...result, problem };
}

interface Invoking {
  readonly stopped: AbortSignal;
  /** Told of the bytes of each chunk of the input. */
  readonly taken: (bytes: number) => void;
  /** Told why the input could not be read: the driver hears only that it ended early. */
  readonly note: (error: unknown) => void;
}

function invoke(
  driver: Driver,
  { operation, input, inputHandle, timeout, cancelAfter }: Step,
  { stopped, ...watch }: Invoking,
): { readonly run: Run; readonly release: () => void } {
  const cancel = new AbortController();
  const signal = AbortSignal.any([stopped, cancel.signal]);
  const source = input === undefined ? undefined : watched(input(), watch);
  const run = driver.invoke(operation, { input: source, inputHandle, timeout, signal });
  const timer =
    cancelAfter === undefined ? undefined : nodeClock.setTimer(() => cancel.abort(), cancelAfter);
  return { run, release: () => timer?.cancel() };
}

/** @yields The chunks of an input, as they are taken. */
async function* watched(
  source: ByteSource,
  { taken, note }: Pick<Invoking, "taken" | "note">,
): AsyncGenerator<Uint8Array, undefined> {
  try {
    for await (const chunk of source instanceof Uint8Array ? [source] : source) {
      taken(chunk.length);
      yield chunk;
    }
  } catch (error) {
    note(error);
    throw error;
  }
  return undefined;
}

interface Consumed {
  observations: number;
  /** Bytes. */
  input: number;
  problem: string | undefined;
}

interface Consumption {
  readonly step: Step;
  readonly reporter: Reporter;
  readonly sink: DataSink;
  readonly consumed: Consumed;
}

/** Takes the observations; that the run ends in an error is not said here but by its completion. */
async function consume(run: Run, { step, reporter, sink, consumed }: Consumption): Promise<void> {
  try {
    for await (const observation of run) {
      consumed.observations += 1;
      const room = sink.take(observation);
      const printed = reporter.observed(step, observation);
      if (printed !== undefined) await printed;
      try {
        await step.onObservation?.(observation);
      } catch (error) {
        consumed.problem ??= messageOf(error);
        break;
      }
      if (room !== undefined) await room;
    }
  } catch (error) {
    if (!isSluiceError(error)) consumed.problem ??= messageOf(error);
  }
}

type Ending = { readonly completion: Completion } | { readonly error: SluiceError };

async function ended(run: Run): Promise<Ending> {
  try {
    return { completion: await run.completed };
  } catch (error) {
    return { error: toSluiceError(error, "operation_failed", "The operation failed") };
  }
}

function problemOf(ending: Ending, step: Step): string | undefined {
  if ("error" in ending) return ending.error.message;
  const { status, cancelled } = ending.completion;
  if (cancelled !== undefined && cancelled.code !== "aborted") return cancelled.message;
  const expected = step.expect ?? [
    TerminalStatus.Completed,
    ...(step.cancelAfter === undefined ? [] : [TerminalStatus.Cancelled]),
  ];
  if (expected.includes(status)) return undefined;
  return `the driver ended it as ${status}, but ${expected.join(" or ")} was expected`;
}

/** A stream that is cut short by a cancel is what was asked for. */
function faultOf(sink: DataSink, ending: Ending): string | undefined {
  const cancelled = "completion" in ending && ending.completion.cancelled !== undefined;
  return cancelled ? undefined : sink.problem;
}

function attempt<T>(action: () => T, note: (error: unknown) => void): T | undefined {
  try {
    return action();
  } catch (error) {
    note(error);
    return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
