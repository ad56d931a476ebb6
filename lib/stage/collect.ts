import type { SluiceError } from "../errors.ts";
import type { Sink, Stage } from "./stage.ts";

/** What {@link collect} saw, in order: outputs and faults. */
export interface Collected<O> {
  /** The outputs alone. */
  readonly values: O[];
  /** The faults alone. */
  readonly faults: SluiceError[];
  /** Both, in the order in which they came. */
  readonly events: ({ readonly value: O } | { readonly fault: SluiceError })[];
}

/** Runs inputs through a stage, one push an input, then ends it. For tests and for small data. */
export function collect<I, O>(stage: Stage<I, O>, inputs: Iterable<I>): Collected<O> {
  const collected: Collected<O> = { values: [], faults: [], events: [] };
  const sink: Sink<O> = {
    open: true,
    next(outputs) {
      for (const value of outputs) {
        collected.values.push(value);
        collected.events.push({ value });
      }
    },
    fail(fault) {
      collected.faults.push(fault);
      collected.events.push({ fault });
    },
  };
  for (const input of inputs) stage.push([input], sink);
  stage.end(sink);
  return collected;
}
