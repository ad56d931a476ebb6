import { SluiceError } from "../../errors.ts";
import { ignore } from "../../rpc/promises.ts";
import type { ByteDuplex } from "../../streams/duplex.ts";
import type { ByteSource } from "./byte-source.ts";
import { CompanionChannel, type CompanionOptions } from "./companion-channel.ts";
import { shown } from "./companion-fault.ts";
import type { CompanionHello } from "./contract.ts";
import type { IncomingStream } from "./incoming-stream.ts";
import type { OutgoingStream } from "./outgoing-stream.ts";
import type { InvocationIds, StreamIds } from "./stream-ids.ts";
import { unavailable } from "./unavailable.ts";

/** The driver's end of a companion channel; it says hello at once, gives credit and obeys it. */
export class CompanionDriver {
  /** Resolves with the host's hello; rejects with a {@link CompanionFault}. */
  readonly ready: Promise<CompanionHello>;
  /** Resolves once nothing more is read: undefined when the host ended its half, else why. */
  readonly ended: Promise<unknown>;
  readonly #channel: CompanionChannel;

  /**
   * @param duplex The channel; it belongs to this object from here on.
   * @throws {RangeError} When a limit is out of its bounds.
   */
  constructor(duplex: ByteDuplex, options: CompanionOptions = {}) {
    this.#channel = new CompanionChannel(duplex, "driver", options);
    this.ready = this.#channel.link.ready;
    this.ended = this.#channel.ended;
  }

  /** Bytes held for consumers in streams that have not ended, and the memory that this costs. */
  get held(): { readonly bytes: number; readonly cost: number } {
    return this.#channel.inbox.held;
  }

  /** Inputs that were asked for and have not ended. */
  get openStreams(): readonly IncomingStream[] {
    return this.#channel.inbox.open;
  }

  /**
   * Sends the data of an observation, whose record must be queued on the control pipe before.
   *
   * Nothing of the source is read before the host has taken the stream.
   *
   * @throws {CompanionFault} `unavailable` when the channel has ended.
   * @throws {RangeError} When the id has no 1 to 256 bytes.
   * @throws {TypeError} When the ids were used before, or the source is none.
   */
  sendData(ids: StreamIds, source: ByteSource): OutgoingStream {
    if (!this.#channel.sendable)
      throw unavailable(
        ids,
        new SluiceError("companion_closed", "The companion channel has ended"),
      );
    return this.#channel.outbox.send(ids, source);
  }

  /**
   * The exact input that the host names `companion:<stream_id>`; it begins to flow when it is read.
   *
   * @param onChange Called whenever its state may have changed.
   * @throws {TypeError} When it was asked for before.
   */
  input(ids: StreamIds, onChange?: () => void): IncomingStream {
    const stream = this.#channel.inbox.expect(ids);
    if (stream === undefined)
      throw new TypeError(`Input ${shown(ids.stream_id)} was asked for before`);
    stream.onChange = onChange;
    return stream;
  }

  /** Says that an invocation is over: its inputs are stopped, and what still comes of them is dropped. */
  endInvocation(ids: InvocationIds): void {
    this.#channel.inbox.endInvocation(ids);
    const reason = new SluiceError("invocation_ended", "The invocation of this input has ended");
    for (const stream of this.#channel.inbox.open)
      if (stream.ids.invocation_id === ids.invocation_id) stream.discard(reason);
  }

  /** Aborts what is still being sent, writes what is queued, and ends the channel. */
  async close(): Promise<void> {
    await this.#channel.halfClose().catch(ignore);
    this.#channel.close(
      new SluiceError("companion_closed", "The driver has closed the companion channel"),
    );
  }
}
