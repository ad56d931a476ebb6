import { isSluiceError, SluiceError, toSluiceError } from "../../errors.ts";
import { openSource } from "../companion/byte-source.ts";
import {
  type ByteSource,
  CompanionFault,
  CompanionFaultCode,
  companionHandle,
  type OutgoingStream,
} from "../companion/mod.ts";
import type { ExactInputHandle } from "../contract/invoke.ts";
import { checkSource } from "../check-source.ts";
import type { CompanionPlane } from "./companion-plane.ts";
import type { OfferInput } from "./input-offer.ts";
import type { InputEnd } from "./run.ts";
import type { Entry } from "./run-entry.ts";

/** Input for a driver that gets none and knows no companion channel. */
const NO_INPUT: ExactInputHandle = { kind: "pipe", value: "/dev/null" };
/** The id of the one stream that a host sends for an invocation. */
const INPUT_STREAM = "input";

/** Brings the exact input of runs to where the driver can read it. */
export class RunInput {
  readonly #plane: CompanionPlane;
  readonly #offer: OfferInput | undefined;

  constructor(plane: CompanionPlane, offer: OfferInput | undefined) {
    this.#plane = plane;
    this.#offer = offer;
  }

  /**
   * Settles where the driver will read its input. What has to be opened first takes a while.
   *
   * @returns Undefined when `entry.handle` is set at once; else a promise that never rejects.
   * @throws {CompanionFault} `input_undeliverable` when there is no way to deliver it.
   * @throws {TypeError} When both `input` and `inputHandle` are given, or the input is no source of bytes.
   */
  arrange(entry: Entry): Promise<SluiceError | undefined> | undefined {
    const { input, inputHandle } = entry.run.options;
    if (input === undefined) {
      entry.handle = inputHandle ?? this.#none();
      return undefined;
    }
    if (inputHandle !== undefined) throw new TypeError("Give input or inputHandle, not both");
    checkSource(input, "The input");
    if (this.#plane.host?.takesInput === true) {
      entry.handle = companionHandle(INPUT_STREAM);
      return undefined;
    }
    if (this.#offer === undefined) throw undeliverable();
    return this.#offer(input).then(
      (offer) => {
        entry.offer = offer;
        entry.handle = offer.handle;
        return undefined;
      },
      (error: unknown) =>
        toSluiceError(error, "input_undeliverable", "The input could not be offered to the driver"),
    );
  }

  /**
   * Begins to send what goes over the channel; called right before the invocation itself is sent.
   *
   * @throws {CompanionFault} `input_undeliverable` when the channel has ended meanwhile.
   * @throws {TypeError} When the input cannot be opened: it was locked meanwhile.
   */
  begin(entry: Entry): void {
    const { run } = entry;
    const { input } = run.options;
    if (entry.offer !== undefined) this.#watch(entry, entry.offer.sent);
    else if (input === undefined) run.settleInput(Promise.resolve({ end: "final", length: 0 }));
    else run.settleInput(this.#send(entry));
  }

  /** The driver has accepted the invocation: a serial driver reads its input from now on. */
  accepted(entry: Entry): void {
    entry.input?.start();
  }

  /** Nobody reads the rest of the input. */
  abort(entry: Entry, reason: SluiceError): void {
    const { input } = entry.run.options;
    if (entry.input === undefined && entry.offer === undefined && input !== undefined)
      release(input, reason);
    entry.input?.abort(reason);
    entry.offer?.withdraw(reason);
  }

  /** A serial driver that completes before it has accepted cannot have read its input. */
  completed(entry: Entry): void {
    const unread =
      entry.input !== undefined && entry.run.unanswered && this.#plane.host?.serial === true;
    const reason = unread
      ? new CompanionFault(
          CompanionFaultCode.InputUnread,
          "Driver completed the invocation without accepting it before, so that its input was never sent",
        )
      : new SluiceError("invocation_ended", "The invocation has ended");
    this.abort(entry, reason);
  }

  /** A socket cannot say that the source failed, so that the driver has to be cancelled. */
  #watch({ run }: Entry, sent: Promise<number>): void {
    run.settleInput(sent.then((length) => ({ end: "final", length })));
    sent.catch((error: unknown) => {
      if (!isSluiceError(error, CompanionFaultCode.InputUnread)) run.cancel(error);
    });
  }

  #none(): ExactInputHandle {
    return this.#plane.host === undefined ? NO_INPUT : companionHandle();
  }

  #send(entry: Entry): Promise<InputEnd> {
    const { invocationId, attemptId, options } = entry.run;
    const ids = { invocation_id: invocationId, attempt_id: attemptId, stream_id: INPUT_STREAM };
    entry.input = this.#plane.host!.sendInput(ids, options.input!);
    return inputEnd(entry.input);
  }
}

/** A failure of the source is the caller's to know of; that the driver wants no more is none. */
async function inputEnd(stream: OutgoingStream): Promise<InputEnd> {
  const { end, length, fault } = await stream.ended;
  const failed =
    fault?.code === CompanionFaultCode.StreamAborted ||
    fault?.code === CompanionFaultCode.InputUnread;
  if (failed) throw fault;
  return { end, length };
}

/** Tells a source that was never opened that nobody wants it; one that is locked is another's. */
function release(source: ByteSource, reason: SluiceError): void {
  try {
    openSource(source).cancel(reason);
  } catch {
    // It holds nothing of this run's.
  }
}

function undeliverable(): CompanionFault {
  return new CompanionFault(
    CompanionFaultCode.InputUndeliverable,
    "The input cannot be delivered: there is no companion channel to the driver, and this host offers no socket",
  );
}
