import { SluiceError } from "../../errors.ts";
import type { RpcMessage } from "../../rpc/message.ts";
import { RemoteError } from "../../rpc/rpc-error.ts";
import { CheckedMessage } from "../codec/checked-message.ts";
import type { CompletedParams } from "../contract/completed.ts";
import { ErrorClass } from "../contract/error-class.ts";
import { Method } from "../contract/method.ts";
import type { ObservationParams } from "../contract/observation.ts";
import { ProtocolError } from "../contract/protocol-error.ts";
import type { CompanionPlane } from "./companion-plane.ts";
import type { HostedRun, StopMode } from "./hosted-run.ts";
import type { Link } from "./link.ts";
import { ReceivedObservation } from "./observation.ts";
import { refusal } from "./reasons.ts";
import type { RunDrain } from "./run-drain.ts";
import type { Entry } from "./run-entry.ts";
import type { RunInput } from "./run-input.ts";
import type { Tombstones } from "../../rpc/tombstones.ts";

/** What the frames of a driver act on. */
export interface RunBook {
  /** The invocations under way, by id. */
  readonly active: ReadonlyMap<string, Entry>;
  /** Every run that is not over in all respects. */
  readonly entries: ReadonlySet<Entry>;
  readonly tombstones: Tombstones;
  /** The driver has ended an invocation: its place is free for the next one. */
  settle(entry: Entry): void;
  /** A run may be over in all respects. */
  release(entry: Entry): void;
  stop(run: HostedRun, cause: SluiceError, mode: StopMode): void;
  restartIdle(entry: Entry): void;
}

/** What deals with the other parts of a run. */
export interface RunParts {
  readonly plane: CompanionPlane;
  readonly input: RunInput;
  readonly drain: RunDrain;
}

/** Hands the frames of the driver to the runs that they belong to; what it throws is the driver's fault. */
export class IncomingFrames {
  readonly #link: Link;
  readonly #book: RunBook;
  readonly #parts: RunParts;

  constructor(link: Link, book: RunBook, parts: RunParts) {
    this.#link = link;
    this.#book = book;
    this.#parts = parts;
  }

  /** Takes one frame, in wire order. */
  take(message: RpcMessage): void {
    if (message.method === Method.Observation) this.#observed(message as CheckedMessage);
    else if (message.method === Method.Completed) this.#completed(message as CheckedMessage);
    else if (message.method === undefined) this.#answered(message);
  }

  #observed(message: CheckedMessage): void {
    const params = CheckedMessage.recordOf(message) as ObservationParams;
    const entry = this.#owner(params.invocation_id);
    if (entry === undefined) return;
    const { run } = entry;
    entry.machine!.apply(message);
    const { invocation_id, attempt_id, sequence, kind, payload, data_stream: stream } = params;
    run.summary?.observe({ kind, sequence, payload, stream: stream?.stream_id });
    const data =
      stream &&
      this.#parts.plane.expect({ invocation_id, attempt_id, stream_id: stream.stream_id }, () =>
        this.#link.changed(),
      );
    this.#book.restartIdle(entry);
    run.deliver(new ReceivedObservation(params, data), CheckedMessage.sizeOf(message));
    if (run.overfull) this.#overrun(run);
  }

  /** Where nobody waits, what is held too much is the rest of one chunk: reading pauses after it. */
  #overrun(run: HostedRun): void {
    const { waits } = this.#link;
    if (waits.length === 0) return;
    if (run.taken) this.#book.stop(run, run.overrun(waits), "abort");
    else run.discard();
  }

  #completed(message: CheckedMessage): void {
    const params = CheckedMessage.recordOf(message) as CompletedParams;
    const entry = this.#owner(params.invocation_id);
    if (entry === undefined) return;
    const { run } = entry;
    entry.machine!.apply(message);
    this.#parts.plane.endInvocation(params);
    this.#parts.input.completed(entry);
    // A run that was given up without an end has nothing left to settle.
    if (run.phase !== "ended")
      this.#parts.drain.begin(run, params, () => this.#book.release(entry));
    this.#book.settle(entry);
    if (run.unanswered) this.#awaitAnswer(entry);
  }

  /** The run that a frame of this invocation belongs to; undefined when the frame is late and dropped. */
  #owner(invocationId: string): Entry | undefined {
    const { active, tombstones } = this.#book;
    const entry = active.get(invocationId);
    if (entry !== undefined || tombstones.has(invocationId)) return entry;
    throw new ProtocolError(
      ErrorClass.MalformedObservation,
      `No invocation ${invocationId} was started in this session`,
    );
  }

  /** After the completion the answer to `driver.invoke` may still come, for a while. */
  #awaitAnswer(entry: Entry): void {
    entry.timers.start("response", this.#link.limits.responseGrace, () => {
      const error = new SluiceError(
        "no_response",
        "Driver completed the invocation without answering driver.invoke",
      );
      entry.answer.abort(error);
      entry.run.acceptanceFailed(error);
      this.#book.release(entry);
      this.#link.changed();
    });
  }

  #answered(message: RpcMessage): void {
    for (const entry of this.#book.active.values()) {
      if (entry.run.requestId !== message.id || entry.run.phase !== "ended") continue;
      if (message.error !== undefined) this.#refusedAfterAll(entry);
      return;
    }
    for (const entry of this.#book.entries) {
      if (entry.run.requestId !== message.id || !entry.run.unanswered) continue;
      if (message.error === undefined) this.#accepted(entry, message);
      else this.#refused(entry, new RemoteError(message.error, { method: Method.Invoke }));
      return;
    }
  }

  #accepted(entry: Entry, message: RpcMessage): void {
    entry.run.accept(message.result!);
    entry.timers.stop("response");
    if (entry.run.phase === "active") this.#parts.input.accepted(entry);
    this.#book.release(entry);
  }

  /** A run that was given up while the driver went on has its place back: it never ran. */
  #refusedAfterAll(entry: Entry): void {
    const { invocationId, attemptId } = entry.run;
    entry.machine!.rejectInvocation(invocationId);
    this.#parts.plane.endInvocation({ invocation_id: invocationId, attempt_id: attemptId });
    this.#book.settle(entry);
  }

  #refused(entry: Entry, error: RemoteError): void {
    const { run, machine } = entry;
    if (run.phase !== "active") {
      throw new ProtocolError(
        ErrorClass.MalformedObservation,
        `Invocation ${run.invocationId} was refused after its completion`,
      );
    }
    machine!.rejectInvocation(run.invocationId);
    const reason = refusal(error, Method.Invoke);
    this.#parts.plane.endInvocation({ invocation_id: run.invocationId, attempt_id: run.attemptId });
    this.#parts.input.abort(entry, reason);
    run.fail(reason);
    this.#book.settle(entry);
    this.#book.release(entry);
  }
}
