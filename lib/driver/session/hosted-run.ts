import { SluiceError } from "../../errors.ts";
import type { JsonValue } from "../../json/value.ts";
import type { RpcId } from "../../rpc/message.ts";
import { ignore, settleReactions } from "../../rpc/promises.ts";
import { Summary } from "../summary.ts";
import { newInstanceId } from "../instance-id.ts";
import type { Observation } from "./observation.ts";
import { ObservationQueue, type QueueBounds } from "./observation-queue.ts";
import type { Completion, InvokeOptions, Run } from "./run.ts";

/** What a run asks of its session. */
export interface RunHost {
  /** Something changed that may let reading go on. */
  changed(): void;
  /** The consumer left the loop, or gave the run up. */
  stop(run: HostedRun, cause: SluiceError, mode: StopMode): void;
}

/** Who stopped a run: its caller for good (`abort`), or its consumer by leaving the loop (`break`). */
export type StopMode = "abort" | "break";

/** The host's end of a run: what the session feeds and the consumer drains. */
export class HostedRun implements Run {
  readonly operation: string;
  readonly invocationId: string;
  readonly attemptId: string;
  readonly options: InvokeOptions;
  readonly summary: Summary | undefined;
  phase: "queued" | "active" | "ended" = "queued";
  /** The id of the `driver.invoke` request, once it was sent. */
  requestId: RpcId | undefined;
  /** Why the host cancels it, once it does. */
  cause: SluiceError | undefined;
  /** How the host cancels it. */
  stopMode: StopMode | undefined;
  readonly #host: RunHost;
  readonly #queue: ObservationQueue<Observation>;
  readonly #completed = Promise.withResolvers<Completion>();
  readonly #accepted = Promise.withResolvers<JsonValue>();
  #acceptance: "pending" | "settled" = "pending";
  #completedRead = false;
  #acceptedRead = false;
  #taken = false;
  #discarding = false;
  #discarded = 0;

  constructor(
    operation: string,
    options: InvokeOptions,
    setup: { host: RunHost; bounds: QueueBounds; summary: boolean },
  ) {
    this.operation = operation;
    this.options = options;
    this.invocationId = options.invocationId ?? newInstanceId();
    this.attemptId = options.attemptId ?? newInstanceId();
    this.summary = setup.summary ? new Summary() : undefined;
    this.#host = setup.host;
    this.#queue = new ObservationQueue(setup.bounds);
    this.#completed.promise.catch(ignore);
    this.#accepted.promise.catch(ignore);
  }

  get completed(): Promise<Completion> {
    if (!this.#completedRead) {
      this.#completedRead = true;
      // Not at once: code that reads both may be about to take the iterator.
      void settleReactions().then(() => {
        this.#discardIfUnwanted();
        this.#host.changed();
      });
    }
    return this.#completed.promise;
  }

  get accepted(): Promise<JsonValue> {
    this.#acceptedRead = true;
    this.#host.changed();
    return this.#accepted.promise;
  }

  /** Whether the driver's response to `driver.invoke` is still to come. */
  get unanswered(): boolean {
    return this.#acceptance === "pending";
  }

  /** Whether this run's queue asks for a pause of the control pipe. */
  get congested(): boolean {
    return this.phase === "active" && !this.#discarding && this.#queue.full;
  }

  /** What somebody waits for on this run that only reading can bring (host-v1 §4). */
  get waits(): string | undefined {
    if (this.#acceptedRead && this.unanswered) return "run.accepted";
    if (this.#queue.awaited) return "the next observation";
    if (this.phase === "ended" || !this.#discarding) return undefined;
    return this.cause === undefined ? "the end of a run" : "the end of a cancelled run";
  }

  /** Whether more is held than is allowed while somebody waits. */
  get overfull(): boolean {
    return !this.#discarding && this.#queue.overfull;
  }

  /** Whether somebody iterates, or has. */
  get taken(): boolean {
    return this.#taken;
  }

  cancel(reason?: unknown): void {
    this.#host.stop(
      this,
      new SluiceError("aborted", "The invocation was cancelled by its caller", { cause: reason }),
      "abort",
    );
  }

  [Symbol.asyncIterator](): AsyncIterator<Observation, undefined> {
    if (this.#taken)
      throw new SluiceError(
        "already_iterating",
        "A run can be iterated once, and this one already is",
      );
    this.#taken = true;
    const done = Promise.resolve({ done: true as const, value: undefined });
    let left = false;
    return {
      next: () => (left ? done : this.#next()),
      return: () => {
        left = true;
        this.#leave();
        return done;
      },
    };
  }

  /** Takes an observation from the driver. */
  deliver(observation: Observation, bytes: number): void {
    if (this.#discarding) this.#discarded += 1;
    else {
      this.#queue.push(observation, bytes);
      this.#discardIfUnwanted();
    }
  }

  /** Gives up what is held and what still comes: nobody will iterate. */
  discard(): void {
    this.#discarding = true;
    this.#discarded += this.#queue.clear();
  }

  /** The fault of a consumer that does not take what is held while others wait. */
  overrun(waits: readonly string[]): SluiceError {
    return new SluiceError(
      "budget_exceeded",
      `The run holds ${this.#queue.size} observations that its consumer does not take, while the session has to read on for ${waits.slice(0, 4).join(", ")}: take them meanwhile`,
      { data: { held: this.#queue.size, waits } },
    );
  }

  /** The driver accepted the invocation. */
  accept(result: JsonValue): void {
    this.#acceptance = "settled";
    this.#accepted.resolve(result);
  }

  /** The driver's answer to `driver.invoke` will not be waited for any longer. */
  acceptanceFailed(error: SluiceError): void {
    this.#acceptance = "settled";
    this.#accepted.reject(error);
  }

  /** The driver ended the invocation. */
  finish(completion: Completion): void {
    this.phase = "ended";
    this.#completed.resolve(completion);
    this.#queue.end();
  }

  /** The invocation ended without a word of the driver. */
  fail(error: SluiceError): void {
    if (this.phase === "ended") return this.acceptanceFailed(error);
    this.phase = "ended";
    this.#completed.reject(error);
    this.#queue.end(error);
    this.acceptanceFailed(error);
  }

  /** The consumer gets nothing more; what still comes is dropped until the driver ends the invocation. */
  stopConsumer(cause: SluiceError, mode: StopMode): void {
    this.cause = cause;
    this.stopMode = mode;
    this.#discarding = true;
    this.#queue.clear();
    this.#queue.end(mode === "abort" ? cause : undefined);
  }

  #next(): Promise<IteratorResult<Observation, undefined>> {
    if (this.#discarded > 0 && this.cause === undefined)
      return Promise.reject(this.#discardedError());
    const next = this.#queue.next();
    this.#host.changed();
    return next;
  }

  #leave(): void {
    const cause = new SluiceError("run_stopped", "The consumer left the loop over the run");
    this.#host.stop(this, cause, "break");
    this.#queue.clear();
  }

  /** Nobody will iterate: `completed` was read, no iterator was taken, and the queue is full. */
  #discardIfUnwanted(): void {
    if (this.phase !== "active" || this.#taken || this.#discarding) return;
    if (this.#completedRead && this.#queue.full) this.discard();
  }

  #discardedError(): SluiceError {
    return new SluiceError(
      "observations_discarded",
      `${this.#discarded} observations were discarded because only run.completed was awaited: iterate before the run fills its queue`,
      { data: { discarded: this.#discarded } },
    );
  }
}
