import type { HostedRun } from "./hosted-run.ts";
import type { RunTimers } from "./run-timers.ts";

/** A run with what the session keeps beside it. */
export interface Entry {
  readonly run: HostedRun;
  readonly timers: RunTimers;
  /** Gives up waiting for the answer to `driver.invoke`. */
  readonly answer: AbortController;
  /** Stops listening to the caller's signal. */
  unlisten: () => void;
}
