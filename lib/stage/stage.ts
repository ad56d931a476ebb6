import type { SluiceError } from "../errors.ts";

/** Where a {@link Stage} puts what it makes, in order. */
export interface Sink<O> {
  /** False once the consumer wants nothing more; stages look at it before each item. */
  readonly open: boolean;
  /** Hands on a batch; the array belongs to the receiver from here on. */
  next(outputs: readonly O[]): void;
  /** Reports a recoverable fault of one frame, after everything made before it was handed on. */
  fail(fault: SluiceError): void;
}

/**
 * One synchronous step of a pipe, over batches.
 *
 * A stage flushes what it holds before it calls `sink.fail`, so faults keep their place among the
 * outputs. Throwing from `push` or `end` is fatal: the stage is not used again. Between two calls a
 * stage holds at most its own carry (a started frame), never finished outputs.
 */
export interface Stage<I, O> {
  /** Takes a batch in; what comes of it goes to `sink` before `push` returns. */
  push(inputs: readonly I[], sink: Sink<O>): void;
  /** Says that nothing more comes; called once. */
  end(sink: Sink<O>): void;
}

/** Most outputs a stage hands on in one batch. */
export const MAX_BATCH = 64;
