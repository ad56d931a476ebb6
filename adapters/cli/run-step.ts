import { TerminalStatus } from "../../lib/driver/contract/completed.ts";
import type { Driver } from "../../lib/driver/session/driver.ts";
import type { Completion, Run } from "../../lib/driver/session/run.ts";
import { isSluiceError, type SluiceError, toSluiceError } from "../../lib/errors.ts";
import { nodeClock } from "../node/node-clock.ts";
import type { Reporter } from "./reporter.ts";
import type { Step, StepResult } from "./session-types.ts";

/** Around a step: who is told, and what stops it. */
export interface StepContext {
  readonly reporter: Reporter;
  readonly stopped: AbortSignal;
}

/** Runs one operation to its end; never rejects. */
export async function runStep(
  driver: Driver,
  step: Step,
  { reporter, stopped }: StepContext,
): Promise<StepResult> {
  const start = nodeClock.now();
  const before = driver.stats.bytesIn;
  const bytes = (): number => driver.stats.bytesIn - before;
  const cancel = new AbortController();
  const { operation, inputHandle, timeout, cancelAfter } = step;
  const signal = AbortSignal.any([stopped, cancel.signal]);
  reporter.started(step, bytes);
  const run = driver.invoke(operation, { inputHandle, timeout, signal });
  const timer =
    cancelAfter === undefined ? undefined : nodeClock.setTimer(() => cancel.abort(), cancelAfter);
  const consumed = await consume(run, step, reporter);
  const ending = await ended(run);
  timer?.cancel();
  const result: StepResult = {
    operation,
    invocationId: run.invocationId,
    ...ending,
    observations: consumed.observations,
    bytes: bytes(),
    milliseconds: nodeClock.now() - start,
    problem: consumed.problem ?? (stopped.aborted ? "it was stopped" : problemOf(ending, step)),
  };
  if (result.problem !== undefined) return result;
  return { ...result, problem: attempt(() => step.check?.(result)) };
}

interface Consumed {
  observations: number;
  problem: string | undefined;
}

/** Takes the observations; that the run ends in an error is not said here but by its completion. */
async function consume(run: Run, step: Step, reporter: Reporter): Promise<Consumed> {
  const consumed: Consumed = { observations: 0, problem: undefined };
  try {
    for await (const observation of run) {
      consumed.observations += 1;
      const printed = reporter.observed(step, observation);
      if (printed !== undefined) await printed;
      try {
        await step.onObservation?.(observation);
      } catch (error) {
        consumed.problem = messageOf(error);
        break;
      }
    }
  } catch (error) {
    if (!isSluiceError(error)) consumed.problem = messageOf(error);
  }
  return consumed;
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

function attempt(check: () => string | undefined): string | undefined {
  try {
    return check();
  } catch (error) {
    return messageOf(error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
