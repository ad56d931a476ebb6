import { SluiceError } from "../../errors.ts";
import type { JsonValue } from "../../json/value.ts";
import type { RpcId } from "../../rpc/message.ts";
import { ignore, settleReactions } from "../../rpc/promises.ts";
import type { IncomingStream } from "../companion/mod.ts";
import { Summary } from "../summary.ts";
import { newInstanceId } from "../instance-id.ts";
import { type Observation, ReceivedObservation } from "./observation.ts";
import { ObservationQueue, type QueueBounds } from "./observation-queue.ts";
import type { Completion, InputEnd, InvokeOptions, Run } from "./run.ts";
import { dataDiscarded, observationsDiscarded, overrun } from "./run-errors.ts";
import { RunStreams } from "./run-streams.ts";
import { StreamSummary } from "./stream-summary.ts";

/** What a run asks of its session. */
export interface RunHost {
  /** Whether anything is held of streams not announced yet. */
  readonly heldEarly: boolean;
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
  readonly streamSummary: StreamSummary | undefined;
  /** Its data streams. */
  readonly streams: RunStreams;
  /** Between `active` and `ended` the driver has completed it, but data streams are still open. */
  phase: "queued" | "active" | "draining" | "ended" = "queued";
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
  readonly #inputSent = Promise.withResolvers<InputEnd>();
  #acceptance: "pending" | "settled" = "pending";
  #completedRead = false;
  #acceptedRead = false;
  /** Whether it is about to be seen whether somebody wants what is held. */
  #judging = false;
  #taken = false;
  #discarding = false;
  #discarded = 0;
  #streamsQueued = 0;
  /** The stream of the observation that the consumer has now. */
  #current: IncomingStream | undefined;

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
    this.streamSummary =
      this.summary && new StreamSummary(this.summary, () => setup.host.heldEarly);
    this.streams = new RunStreams(options.hold ?? 0, this.streamSummary);
    this.#host = setup.host;
    this.#queue = new ObservationQueue(setup.bounds);
    this.#completed.promise.catch(ignore);
    this.#accepted.promise.catch(ignore);
    this.#inputSent.promise.catch(ignore);
  }

  get completed(): Promise<Completion> {
    if (!this.#completedRead) {
      this.#completedRead = true;
      this.#judge();
    }
    return this.#completed.promise;
  }

  get accepted(): Promise<JsonValue> {
    this.#acceptedRead = true;
    this.#host.changed();
    return this.#accepted.promise;
  }

  get inputSent(): Promise<InputEnd> {
    return this.#inputSent.promise;
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
    if (this.streams.awaited) return "the bytes of a data stream";
    if (this.phase === "draining") return "the end of data streams";
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
    const stream = ReceivedObservation.streamOf(observation);
    if (stream !== undefined) this.streams.add(stream);
    if (this.#discarding) {
      this.#discarded += 1;
      stream?.discard(this.cause ?? dataDiscarded());
      return;
    }
    if (stream !== undefined) this.#streamsQueued += 1;
    this.#queue.push(observation, bytes);
    if (stream !== undefined || this.#queue.full) this.#judge();
  }

  /** Gives up what is held and what still comes: nobody will iterate. */
  discard(): void {
    this.#discarding = true;
    this.#discarded += this.#queue.clear();
    this.streams.discardAll(dataDiscarded());
  }

  /** How its input went. */
  settleInput(sent: Promise<InputEnd>): void {
    this.#inputSent.resolve(sent);
  }

  /** The fault of a consumer that does not take what is held while others wait. */
  overrun(waits: readonly string[]): SluiceError {
    return overrun(this.#queue.size, waits);
  }

  /** The driver accepted the invocation. */
  accept(result: JsonValue): void {
    this.#acceptance = "settled";
    this.#accepted.resolve(result);
    this.#judge();
  }

  /** The driver's answer to `driver.invoke` will not be waited for any longer. */
  acceptanceFailed(error: SluiceError): void {
    this.#acceptance = "settled";
    this.#accepted.reject(error);
  }

  /** The driver ended the invocation; its data streams may still be open. */
  drain(): void {
    this.phase = "draining";
    this.#queue.end();
  }

  /** The invocation has ended, and so have its data streams. */
  finish(completion: Completion): void {
    this.phase = "ended";
    this.#queue.end();
    this.#completed.resolve(completion);
  }

  /** The invocation ended without a word of the driver. */
  fail(error: SluiceError): void {
    if (this.phase === "ended") return this.acceptanceFailed(error);
    this.phase = "ended";
    this.#completed.reject(error);
    this.#inputSent.reject(error);
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
    this.streams.discardAll(cause);
  }

  #next(): Promise<IteratorResult<Observation, undefined>> {
    if (this.#discarded > 0 && this.cause === undefined)
      return Promise.reject(observationsDiscarded(this.#discarded));
    this.#pass();
    const next = this.#queue.next();
    this.#host.changed();
    return next.then((result) => {
      this.#passSoon();
      this.#current = ReceivedObservation.streamOf(result.value);
      if (this.#current !== undefined) this.#streamsQueued -= 1;
      if (this.#queue.awaited) this.#passSoon();
      return result;
    });
  }

  /** The consumer is done with the observation that it has: its stream is kept only when it was taken. */
  #pass(): void {
    if (this.#current !== undefined) this.streams.passed(this.#current, dataDiscarded);
    this.#current = undefined;
  }

  /** Where next() was called ahead, what follows was asked for before the consumer could look at this. */
  #passSoon(): void {
    const stream = this.#current;
    if (stream === undefined) return;
    this.#current = undefined;
    void settleReactions().then(() => this.streams.passed(stream, dataDiscarded));
  }

  #leave(): void {
    const cause = new SluiceError("run_stopped", "The consumer left the loop over the run");
    this.#host.stop(this, cause, "break");
    this.#queue.clear();
    this.streams.discardAll(cause);
  }

  /** Not at once: code that reads `completed` or `accepted` may be about to take the iterator. */
  #judge(): void {
    if (!this.#completedRead || this.#taken || this.#judging) return;
    this.#judging = true;
    void settleReactions().then(() => {
      this.#judging = false;
      if (this.#unwanted) this.discard();
      this.#host.changed();
    });
  }

  /**
   * Whether nobody will iterate: `completed` was read, nothing else is waited for before an iterator may
   * be taken, and the driver cannot go on, because the queue is full or a data stream waits to be taken.
   */
  get #unwanted(): boolean {
    if (this.phase === "ended" || this.#taken || this.#discarding || !this.#completedRead)
      return false;
    if (this.#acceptedRead && this.unanswered) return false;
    return this.#streamsQueued > 0 || (this.phase === "active" && this.#queue.full);
  }
}
