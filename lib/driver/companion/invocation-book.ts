import type { InvocationIds } from "./stream-ids.ts";

/** Whether an invocation is under way, was, or never began here. */
export type Standing = "active" | "over" | "unknown";

/** Which invocations the streams of a channel may belong to; of those that are over, the last are known. */
export class InvocationBook {
  readonly #limit: number;
  readonly #active: Map<string, string> = new Map();
  readonly #over: Map<string, string> = new Map();

  /** @param limit How many that are over are remembered. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  start({ invocation_id, attempt_id }: InvocationIds): void {
    this.#active.set(invocation_id, attempt_id);
  }

  end({ invocation_id, attempt_id }: InvocationIds): void {
    this.#active.delete(invocation_id);
    this.#over.set(invocation_id, attempt_id);
    if (this.#over.size > this.#limit) this.#over.delete(this.#over.keys().next().value!);
  }

  standing({ invocation_id, attempt_id }: InvocationIds): Standing {
    if (this.#active.get(invocation_id) === attempt_id) return "active";
    return this.#over.get(invocation_id) === attempt_id ? "over" : "unknown";
  }
}
