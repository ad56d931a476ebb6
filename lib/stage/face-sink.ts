import type { SluiceError } from "../errors.ts";
import type { FaceOptions, FaultMode } from "./face-options.ts";
import type { Sink, Stage } from "./stage.ts";

/**
 * The sink behind every face: holds what came of one input, in order, and what ended the work.
 *
 * It is closed by the first fault (with `faults: "error"`), by a throw and by {@link close}; from
 * then on it takes nothing.
 */
export class FaceSink<I, O> implements Sink<O> {
  open = true;
  /** Why the work ended early, once everything in {@link items} is delivered. */
  failure: { readonly reason: unknown } | undefined;
  /** Delivered by the face from the front; arrays or single outputs, and faults in place. */
  items: unknown[] = [];
  readonly #stage: Stage<I, O>;
  readonly #batch: boolean;
  readonly #faults: FaultMode;
  readonly #onFault: ((fault: SluiceError) => void) | undefined;

  /** @throws {TypeError} When an option is wrong. */
  constructor(stage: Stage<I, O>, options: FaceOptions) {
    const { batch = false, faults = "error", onFault } = options;
    if (faults !== "error" && faults !== "skip" && faults !== "emit") {
      throw new TypeError(`faults must be one of error, skip, emit, got ${String(faults)}`);
    }
    if (onFault !== undefined && faults !== "skip") {
      throw new TypeError(`onFault is called for skipped faults only, but faults is ${faults}`);
    }
    this.#stage = stage;
    this.#batch = batch;
    this.#faults = faults;
    this.#onFault = onFault;
  }

  next(outputs: readonly O[]): void {
    if (!this.open || outputs.length === 0) return;
    if (this.#batch) this.items.push(outputs);
    else for (const output of outputs) this.items.push(output);
  }

  fail(fault: SluiceError): void {
    if (!this.open) return;
    if (this.#faults === "skip") this.#onFault?.(fault);
    else if (this.#faults === "emit") this.items.push(this.#batch ? [fault] : fault);
    else this.#fail(fault);
  }

  /** Runs one input through the stage; a throw becomes the {@link failure}. */
  push(input: I): void {
    try {
      this.#stage.push([input], this);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ends the stage; a throw becomes the {@link failure}. */
  end(): void {
    try {
      this.#stage.end(this);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Hands over what is held. */
  take(): unknown[] {
    const items = this.items;
    this.items = [];
    return items;
  }

  /** Says that nothing more is wanted, and drops what is held. */
  close(): void {
    this.open = false;
    this.items = [];
  }

  #fail(reason: unknown): void {
    this.open = false;
    this.failure ??= { reason };
  }
}
