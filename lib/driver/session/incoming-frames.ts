import { SluiceError } from "../../errors.ts";
import type { RpcMessage } from "../../rpc/message.ts";
import { RemoteError } from "../../rpc/rpc-error.ts";
import { CheckedMessage } from "../codec/checked-message.ts";
import type { CompletedParams } from "../contract/completed.ts";
import { ErrorClass } from "../contract/error-class.ts";
import { Method } from "../contract/method.ts";
import type { ObservationParams } from "../contract/observation.ts";
import { ProtocolError } from "../contract/protocol-error.ts";
import type { HostedRun, StopMode } from "./hosted-run.ts";
import type { Link } from "./link.ts";
import { observationOf } from "./observation.ts";
import { refusal } from "./reasons.ts";
import type { Completion } from "./run.ts";
import type { Entry } from "./run-entry.ts";
import type { Tombstones } from "./tombstones.ts";

/** What the frames of a driver act on. */
export interface RunBook {
  /** The invocation under way. */
  readonly active: Entry | undefined;
  /** Every run that is not over in all respects, by run. */
  readonly entries: Map<HostedRun, Entry>;
  readonly tombstones: Tombstones;
  /** Ends the invocation under way and lets the next one start. */
  settle(entry: Entry, end: () => void): void;
  stop(run: HostedRun, cause: SluiceError, mode: StopMode): void;
  restartIdle(entry: Entry): void;
}

/** Hands the frames of the driver to the runs that they belong to; what it throws is the driver's fault. */
export class IncomingFrames {
  readonly #link: Link;
  readonly #book: RunBook;

  constructor(link: Link, book: RunBook) {
    this.#link = link;
    this.#book = book;
  }

  /** Takes one frame, in wire order. */
  take(message: RpcMessage): void {
    if (message.method === Method.Observation) this.#observed(message);
    else if (message.method === Method.Completed) this.#completed(message);
    else if (message.method === undefined) this.#answered(message);
  }

  #observed(message: RpcMessage): void {
    const params = CheckedMessage.recordOf(message as CheckedMessage) as ObservationParams;
    const entry = this.#owner(params.invocation_id);
    if (entry === undefined) return;
    const { run } = entry;
    this.#link.machine.apply(message as CheckedMessage);
    const { sequence, kind, payload, data_stream: stream } = params;
    run.summary?.observe({ kind, sequence, payload, stream: stream?.stream_id });
    this.#book.restartIdle(entry);
    run.deliver(observationOf(params), CheckedMessage.sizeOf(message as CheckedMessage));
    if (run.overfull) this.#overrun(run);
  }

  /** Where nobody waits, what is held too much is the rest of one chunk: reading pauses after it. */
  #overrun(run: HostedRun): void {
    const { waits } = this.#link;
    if (waits.length === 0) return;
    if (run.taken) this.#book.stop(run, run.overrun(waits), "abort");
    else run.discard();
  }

  #completed(message: RpcMessage): void {
    const params = CheckedMessage.recordOf(message as CheckedMessage) as CompletedParams;
    const entry = this.#owner(params.invocation_id);
    if (entry === undefined) return;
    const { run } = entry;
    this.#link.machine.apply(message as CheckedMessage);
    checkSummary(run, params);
    const { status, summary_digest, last_sequence } = params;
    const completion: Completion = {
      status,
      summary_digest,
      ...(last_sequence !== undefined && { last_sequence }),
      ...(run.cause !== undefined && { cancelled: run.cause }),
    };
    this.#book.settle(entry, () => run.finish(completion));
    if (run.unanswered) this.#awaitAnswer(entry);
  }

  /** The run that a frame of this invocation belongs to; undefined when the frame is late and dropped. */
  #owner(invocationId: string): Entry | undefined {
    const { active, tombstones } = this.#book;
    if (active?.run.invocationId === invocationId) return active;
    if (tombstones.has(invocationId)) return undefined;
    throw new ProtocolError(
      ErrorClass.MalformedObservation,
      `No invocation ${invocationId} was started in this session`,
    );
  }

  /** After the completion the answer to `driver.invoke` may still come, for a while. */
  #awaitAnswer(entry: Entry): void {
    this.#book.entries.set(entry.run, entry);
    entry.timers.start("response", this.#link.limits.responseGrace, () => {
      this.#book.entries.delete(entry.run);
      const error = new SluiceError(
        "no_response",
        "Driver completed the invocation without answering driver.invoke",
      );
      entry.answer.abort(error);
      entry.run.acceptanceFailed(error);
      this.#link.changed();
    });
  }

  #answered(message: RpcMessage): void {
    for (const entry of this.#book.entries.values()) {
      if (entry.run.requestId !== message.id || !entry.run.unanswered) continue;
      if (message.error === undefined) this.#accepted(entry, message);
      else this.#refused(entry, new RemoteError(message.error, { method: Method.Invoke }));
      return;
    }
  }

  #accepted({ run, timers }: Entry, message: RpcMessage): void {
    run.accept(message.result!);
    timers.stop("response");
    if (run.phase === "ended") this.#book.entries.delete(run);
  }

  #refused(entry: Entry, error: RemoteError): void {
    const { run } = entry;
    if (run.phase === "ended") {
      throw new ProtocolError(
        ErrorClass.MalformedObservation,
        `Invocation ${run.invocationId} was refused after its completion`,
      );
    }
    this.#link.machine.rejectInvocation(run.invocationId);
    this.#book.settle(entry, () => run.fail(refusal(error, Method.Invoke)));
  }
}

function checkSummary(run: HostedRun, params: CompletedParams): void {
  const expected = run.summary?.digest();
  if (expected === undefined || expected === params.summary_digest) return;
  throw new ProtocolError(
    ErrorClass.MalformedObservation,
    `Summary digest of invocation ${run.invocationId} is ${params.summary_digest}, but what arrived has ${expected}`,
    { code: "summary_mismatch" },
  );
}
