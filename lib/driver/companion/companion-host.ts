import { SluiceError } from "../../errors.ts";
import type { ByteDuplex } from "../../streams/duplex.ts";
import { ErrorClass } from "../contract/error-class.ts";
import { ProtocolError } from "../contract/protocol-error.ts";
import type { ByteSource } from "./byte-source.ts";
import { CompanionChannel, type CompanionOptions } from "./companion-channel.ts";
import { CompanionFaultCode, shown, streamFault } from "./companion-fault.ts";
import type { CompanionHello } from "./contract.ts";
import type { IncomingStream } from "./incoming-stream.ts";
import { NO_INPUT } from "./input-handle.ts";
import type { OutgoingStream } from "./outgoing-stream.ts";
import type { InvocationIds, StreamIds } from "./stream-ids.ts";

/**
 * The host's end of a companion channel.
 *
 * A driver with credit never blocks it: the channel is always read. Of a serial driver it stops reading
 * while a stream that was asked for is full and its consumer takes nothing.
 */
export class CompanionHost {
  /** Resolves with the driver's hello, once it was answered; rejects with a {@link CompanionFault}. */
  readonly ready: Promise<CompanionHello>;
  /** Resolves once nothing more is read: undefined when the driver ended its half, else why. */
  readonly ended: Promise<unknown>;
  readonly #channel: CompanionChannel;

  /**
   * @param duplex The channel; it belongs to this object from here on.
   * @throws {RangeError} When a limit is out of its bounds.
   */
  constructor(duplex: ByteDuplex, options: CompanionOptions = {}) {
    this.#channel = new CompanionChannel(duplex, "host", options);
    this.ready = this.#channel.link.ready;
    this.ended = this.#channel.ended;
  }

  /** Whether the driver is serial: it gives and obeys no credit. */
  get serial(): boolean {
    return this.#channel.serial;
  }

  /** Whether the channel is being read just now: neither over nor held up by a full stream. */
  get reading(): boolean {
    return this.#channel.link.readable && this.#channel.inbox.gate.open;
  }

  /** Whether frames or ends are held of streams not yet announced: a reason to read the control pipe. */
  get heldEarly(): boolean {
    return this.#channel.inbox.heldEarly;
  }

  /** Whether an input can still be sent. */
  get takesInput(): boolean {
    return this.#channel.sendable;
  }

  /** Announced streams that have not ended. */
  get openStreams(): readonly IncomingStream[] {
    return this.#channel.inbox.open;
  }

  /** Bytes held for consumers in streams that have not ended, and the memory that this costs. */
  get held(): { readonly bytes: number; readonly cost: number } {
    return this.#channel.inbox.held;
  }

  /** Says that an invocation is about to be sent; before that its frames are `malformed`. */
  startInvocation(ids: InvocationIds): void {
    this.#channel.inbox.book.start(ids);
  }

  /**
   * Says that an invocation has completed, or never ran: nothing more of it will be announced. Streams
   * never announced are dropped, and what still comes of them counts as late; announced ones go on to
   * their end.
   */
  endInvocation(ids: InvocationIds): void {
    this.#channel.inbox.endInvocation(ids);
  }

  /**
   * Takes a stream that the driver has announced; what came of it before is part of it.
   *
   * @param onChange Called whenever its state may have changed.
   * @returns The stream; of a channel that has ended one whose reads reject with `unavailable`.
   * @throws {ProtocolError} `malformed_observation` when the stream was announced before.
   */
  expect(ids: StreamIds, onChange?: () => void): IncomingStream {
    const stream = this.#channel.inbox.expect(ids);
    if (stream === undefined) {
      throw new ProtocolError(
        ErrorClass.MalformedObservation,
        `Two observations name data stream ${shown(ids.stream_id)}`,
        { code: "stream_announced_twice", data: { ...ids } },
      );
    }
    stream.onChange = onChange;
    return stream;
  }

  /**
   * Sends an exact input; call it before the invocation itself is sent.
   *
   * A driver with credit starts it by taking it. A serial driver gets one input at a time, in the order
   * in which `start()` is called on them, which must wait for `run.accepted`.
   *
   * @throws {CompanionFault} `input_undeliverable` when the channel has ended.
   * @throws {RangeError} When the id has no 1 to 256 bytes, or is `none`.
   * @throws {TypeError} When the ids were used before, or the source is none.
   */
  sendInput(ids: StreamIds, source: ByteSource): OutgoingStream {
    if (ids.stream_id === NO_INPUT)
      throw new RangeError(`An input must not be named ${NO_INPUT}: that names no input`);
    if (!this.#channel.sendable) {
      const problem = "cannot be sent: the companion channel has ended";
      throw streamFault(CompanionFaultCode.InputUndeliverable, ids, { problem });
    }
    return this.#channel.outbox.send(ids, source);
  }

  /** Reads on to the end although a consumer of a serial driver's stream takes nothing; its owner sees to a bound. */
  readOn(): void {
    this.#channel.inbox.gate.release();
  }

  /**
   * Ends this side's half after what is queued. Open inputs are aborted; a driver with credit is thereby
   * told to stop all its streams, so those not ended are discarded with `stream_stopped`.
   *
   * @returns Resolves when the half is closed; rejects when it cannot be.
   */
  halfClose(): Promise<void> {
    return this.#channel.halfClose();
  }

  /** Ends the channel at once; streams not ended are `truncated`. */
  close(): void {
    this.#channel.close(
      new SluiceError("companion_closed", "The host has closed the companion channel"),
    );
  }
}
