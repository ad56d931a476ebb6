import type { SluiceError } from "../../errors.ts";
import type { JsonValue } from "../../json/value.ts";
import type { TerminalStatus } from "../contract/completed.ts";
import type { ExactInputHandle } from "../contract/invoke.ts";
import type { ByteSource } from "../companion/mod.ts";
import type { Observation } from "./observation.ts";

/** How an invocation ended. */
export interface Completion {
  /** What the driver said. */
  readonly status: TerminalStatus;
  readonly summary_digest: string;
  /** Absent when there was no observation. */
  readonly last_sequence?: number;
  /** Why the host cancelled it, when it did. */
  readonly cancelled?: SluiceError;
  /** Set when data streams had not ended `dataTimeout` after the driver's completion. */
  readonly incomplete?: SluiceError;
}

/** How an input went: ended by its final frame, or given up, and how much of it was sent. */
export interface InputEnd {
  readonly end: "final" | "abort";
  readonly length: number;
}

/** Options of one invocation. */
export interface InvokeOptions {
  /**
   * The exact input: bytes, or a stream that is read as the driver takes it. It goes over the companion
   * channel, or, to a driver without one, over a one-shot socket where the adapter can offer that.
   */
  readonly input?: ByteSource | undefined;
  /** Where the driver reads its exact input, in place of `input`. Default: no input. */
  readonly inputHandle?: ExactInputHandle | undefined;
  /** Gives the run up when it aborts: its iterator rejects with `aborted` at once, the driver is cancelled. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the whole invocation, waiting for its turn included; 0 for no limit. Default: no limit. */
  readonly timeout?: number | undefined;
  /** Milliseconds that may pass without an observation while the host reads; 0 for no limit. Default: no limit. */
  readonly idleTimeout?: number | undefined;
  /**
   * How many data streams stay open untaken although later observations were asked for, for consumers
   * that prefetch. Default 0.
   */
  readonly hold?: number | undefined;
  /** Default: a new UUID of version 7. */
  readonly invocationId?: string | undefined;
  /** Default: a new UUID of version 7. */
  readonly attemptId?: string | undefined;
}

/**
 * One invocation under way. Iterate over it for its observations (once); leaving the loop cancels it.
 *
 * The promises are marked as handled, so reading neither of them is no error.
 */
export interface Run extends AsyncIterable<Observation> {
  readonly operation: string;
  readonly invocationId: string;
  readonly attemptId: string;
  /**
   * Resolves with the terminal status, also after a cancel that the driver heeded.
   * Rejects with the driver's refusal, or with the reason why the session ended.
   */
  readonly completed: Promise<Completion>;
  /**
   * Resolves with the driver's response to `driver.invoke`; rejects with its refusal, with `no_response`
   * when none comes in time after the completion, or with the reason why the session ended.
   */
  readonly accepted: Promise<JsonValue>;
  /**
   * Resolves once the input was sent, or given up because the driver did not want the rest; rejects with
   * `stream_aborted` when its source failed (cause kept), `input_unread`, `truncated`, or the reason why the run failed. A run without `input` has sent 0 bytes.
   */
  readonly inputSent: Promise<InputEnd>;
  /** Cancels the run as an aborted signal does. */
  cancel(reason?: unknown): void;
}
