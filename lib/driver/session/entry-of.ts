import type { Clock } from "../../clock.ts";
import type { SluiceError } from "../../errors.ts";
import type { HostedRun } from "./hosted-run.ts";
import { aborted, timedOut } from "./reasons.ts";
import type { Entry } from "./run-entry.ts";
import { RunTimers } from "./run-timers.ts";

/**
 * Makes the entry of a run, whose total time begins.
 *
 * @param stop Called when that time is over, and when the caller's signal aborts until `unlisten()`.
 */
export function entryOf(run: HostedRun, clock: Clock, stop: (cause: SluiceError) => void): Entry {
  const { signal, timeout = 0 } = run.options;
  const listener = (): void => stop(aborted(signal!.reason));
  signal?.addEventListener("abort", listener, { once: true });
  const timers = new RunTimers(clock);
  if (timeout > 0)
    timers.start("total", timeout, () => stop(timedOut("invocation_timeout", timeout)));
  return {
    run,
    timers,
    answer: new AbortController(),
    unlisten: () => signal?.removeEventListener("abort", listener),
    machine: undefined,
    handle: undefined,
    input: undefined,
    offer: undefined,
    idleBytes: 0,
  };
}
