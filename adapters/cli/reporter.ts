import type { DataResult } from "./data-sink.ts";
import type { Driver } from "../../lib/driver/session/driver.ts";
import type { Observation } from "../../lib/driver/session/observation.ts";
import { JsonReporter } from "./json-reporter.ts";
import type { Secrets } from "./secrets.ts";
import type { SessionOutcome, Step, StepResult, View } from "./session-types.ts";
import type { Terminal } from "./terminal.ts";
import { TextReporter } from "./text-reporter.ts";

/** What shows a session to its user. */
export interface Reporter {
  /** The driver said hello. */
  identified(driver: Driver): void;
  /** The driver accepted these permissions. */
  prepared(permissions: readonly string[]): void;
  /** @param bytes Bytes that came for this operation so far. */
  started(step: Step, bytes: () => number): void;
  /** @returns A promise to wait for when the output's reader is slow. */
  observed(step: Step, observation: Observation): Promise<void> | undefined;
  /** A data stream has ended. */
  data(step: Step, data: DataResult): void;
  completed(result: StepResult): void;
  ended(outcome: SessionOutcome): void;
}

const SILENT: Reporter = {
  identified() {},
  prepared() {},
  started() {},
  observed: () => undefined,
  data() {},
  completed() {},
  ended() {},
};

/** Builds the reporter of a view. */
export function createReporter(view: View, terminal: Terminal, secrets: Secrets): Reporter {
  if (view === "quiet") return SILENT;
  if (view === "json") return new JsonReporter(terminal, secrets);
  return new TextReporter({ terminal, secrets, verbose: view === "verbose" });
}
