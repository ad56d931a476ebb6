import type { ByteSource } from "../../lib/driver/companion/mod.ts";
import type { DriverEnd } from "../../lib/driver/session/driver.ts";
import type { Observation } from "../../lib/driver/session/observation.ts";
import type { Completion } from "../../lib/driver/session/run.ts";
import type { SessionStats } from "../../lib/driver/session/traffic.ts";
import type { ExactInputHandle } from "../../lib/driver/contract/invoke.ts";
import type { TerminalStatus } from "../../lib/driver/contract/completed.ts";
import type { SluiceError } from "../../lib/errors.ts";
import type { DataResult } from "./data-sink.ts";
import type { StopReason } from "./stop-switch.ts";

/** One operation to run. */
export interface Step {
  readonly operation: string;
  /** Gives the exact input when the operation begins; it is read as the driver takes it. Default: none. */
  readonly input?: (() => ByteSource) | undefined;
  /** Where the driver reads its input, in place of `input`. */
  readonly inputHandle?: ExactInputHandle | undefined;
  /** Milliseconds for the whole operation. Default: no limit. */
  readonly timeout?: number | undefined;
  /** Milliseconds after which it is cancelled. Default: never. */
  readonly cancelAfter?: number | undefined;
  /** How it may end. Default: `completed`; with `cancelAfter` also `cancelled`. */
  readonly expect?: readonly TerminalStatus[] | undefined;
  /** How many observations are to come, for the progress bar. Default: unknown. */
  readonly total?: number | undefined;
  /** Gets each observation; what it throws ends the operation and is its failure. */
  readonly onObservation?: ((observation: Observation) => void | Promise<void>) | undefined;
  /** Gets each data stream that came whole; what it throws is the operation's failure. */
  readonly onData?: ((data: DataResult) => void) | undefined;
  /** Judges an operation that ended as expected; gives what is wrong, or undefined. */
  readonly check?: ((result: StepResult) => string | undefined) | undefined;
}

/** Bytes that passed beside the control pipe: data streams, and the exact input. */
export interface DataTotals {
  /** Data streams of the driver. */
  readonly streams: number;
  /** Bytes that came in them. */
  readonly in: number;
  /** Bytes of input that were taken to be sent. */
  readonly out: number;
}

/** How one operation went. */
export interface StepResult {
  readonly operation: string;
  readonly invocationId: string;
  /** Absent when the driver did not say how it ended. */
  readonly completion?: Completion;
  /** Why there is no completion. */
  readonly error?: SluiceError;
  readonly observations: number;
  /** Bytes that came over the control pipe meanwhile. */
  readonly bytes: number;
  readonly data: DataTotals;
  readonly milliseconds: number;
  /** What was not as expected; undefined when all was. */
  readonly problem: string | undefined;
}

/** How much is printed: `text` for people, each observation too (`verbose`), nothing (`quiet`), or lines of JSON. */
export type View = "text" | "verbose" | "quiet" | "json";

/** A driver to start and what to do with it. */
export interface SessionRequest {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Operations in order, each run whether or not the one before it failed. Default: none. */
  readonly steps?: readonly Step[] | undefined;
  /** What is granted; `"requested"` is all that the driver requests. Default: nothing. */
  readonly permissions?: readonly string[] | "requested" | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  /** What a line on the driver's stdout does that is no frame. Default `fail`. */
  readonly noise?: "fail" | "stderr" | undefined;
  /** Milliseconds from the start to the hello. */
  readonly startTimeout?: number | undefined;
  /** How the driver gets the companion channel; `off` for no channel. Default `fd`. */
  readonly companion?: "fd" | "unix" | "pipe" | "tcp" | "off" | undefined;
  /** Keeps each data stream in a file of this folder. Default: they are counted and dropped. */
  readonly dataDir?: string | undefined;
  /** Default `text`. */
  readonly view?: View | undefined;
}

/** How a session went. */
export interface SessionOutcome {
  /** 0 when all was as expected, 1 when not; what the signal asks for when one stopped it. */
  readonly exitCode: number;
  /** What went wrong with the session as a whole. */
  readonly failure: SluiceError | undefined;
  /** What stopped it before its end. */
  readonly stop: StopReason | undefined;
  /** The names of the driver; undefined when it did not say hello. */
  readonly driver: { readonly name: string; readonly version: string } | undefined;
  readonly steps: readonly Step[];
  /** As many as were run. */
  readonly results: readonly StepResult[];
  readonly states: readonly string[];
  readonly permissions: readonly string[];
  /** Undefined when the driver did not say hello. */
  readonly stats: SessionStats | undefined;
  readonly end: DriverEnd | undefined;
}
