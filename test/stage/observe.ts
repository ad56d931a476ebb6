import type { SluiceError } from "../../lib/errors.ts";
import type { Sink, Stage } from "../../lib/stage/stage.ts";

/** What a stage did, in order; a fault without its message, a throw as the last event. */
export type Seen<O> =
  | { readonly value: O }
  | { readonly fault: string; readonly data: SluiceError["data"] }
  | { readonly thrown: unknown };

/** Runs each group of inputs as one push, then ends the stage; nothing after a throw. */
export function observe<I, O>(stage: Stage<I, O>, groups: Iterable<readonly I[]>): Seen<O>[] {
  const seen: Seen<O>[] = [];
  const sink = recordingSink(seen);
  try {
    for (const group of groups) stage.push(group, sink);
    stage.end(sink);
  } catch (error) {
    seen.push({ thrown: error });
  }
  return seen;
}

/** A sink that writes down what it gets. */
export function recordingSink<O>(seen: Seen<O>[]): Sink<O> & { open: boolean } {
  return {
    open: true,
    next: (outputs) => void seen.push(...outputs.map((value) => ({ value }))),
    fail: (fault) => void seen.push({ fault: fault.code, data: fault.data }),
  };
}

/** Cuts bytes at the given places; the views share the buffer. */
export function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = places.map((p) => p % (bytes.length + 1)).toSorted((a, b) => a - b);
  const edges = [0, ...sorted, bytes.length];
  return edges.slice(1).map((edge, k) => bytes.subarray(edges[k], edge));
}
