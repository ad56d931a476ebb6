import type { SluiceError } from "../../errors.ts";
import type { Sha256 } from "../../json/digest.ts";
import { ChunkBuffer, SMALL_BYTES } from "./chunk-buffer.ts";
import {
  type CompanionFault,
  CompanionFaultCode,
  malformed,
  shown,
  streamFault,
} from "./companion-fault.ts";
import { type DataStream, DataStreamFace } from "./data-stream.ts";
import type { Flow } from "./flow.ts";
import { streamIds, type StreamIds } from "./stream-ids.ts";

/** How a received stream ended. */
export interface IncomingEnd {
  /** By its final frame, by an abort of its sender, or (`fault`) not by its sender. */
  readonly end: "final" | "abort" | "fault";
  /** Bytes that came, whether they were wanted or not. */
  readonly length: number;
  /** sha256 of them, lower-case hex; absent where no digests are made. */
  readonly sha256: string | undefined;
  /** Rises with each end on the channel, so that ends can be put in wire order. */
  readonly order: number;
  /** Why it is no clean end: absent for `final`. */
  readonly fault: SluiceError | undefined;
}

/** A stream that this side receives. */
export interface IncomingStream {
  readonly ids: StreamIds;
  /** The bytes; looking at this property does not take the stream. */
  readonly data: DataStream;
  /** Whether the consumer has taken the stream: locked it, or read from it. */
  readonly taken: boolean;
  /** Whether a read waits for bytes or for the end. */
  readonly awaited: boolean;
  /** Whether its sender, still in the midst of it, can go on only once the consumer takes bytes. */
  readonly full: boolean;
  /** Whether what comes is dropped. */
  readonly unwanted: boolean;
  /** Bytes that have come, whether they were wanted or not. */
  readonly length: number;
  /** How it ended on the channel; never rejects, and does not wait for the consumer. */
  readonly ended: Promise<IncomingEnd>;
  /** As {@link IncomingStream.ended}, once it has. */
  readonly outcome: IncomingEnd | undefined;
  /**
   * Wants nothing more: what is held is dropped, every read rejects with `reason` from here on, and
   * the sender is told to stop where it can be. The stream ends when its sender says so.
   */
  discard(reason: SluiceError): void;
  /**
   * Waits no longer: reads reject with `fault` after what is held, the sender is told to stop where it
   * can be, and the stream has ended for this side; what still comes of it counts as
   * late; so its invocation must be over by then.
   */
  fail(fault: SluiceError): void;
}

/** What a {@link ReceivedStream} stands on. */
export interface IncomingPort {
  readonly flow: Flow;
  readonly hash: Sha256 | undefined;
  /** Grants the sender this many bytes. */
  grant(bytes: number): void;
  /** Tells the sender that the stream is not wanted. */
  stop(): void;
  /** The consumer took, asked or gave up; or the stream has ended. */
  changed(): void;
  /** The next number in the order of ends. */
  nextEnd(): number;
}

/** The receiving end of one stream: what the channel feeds and the consumer drains. */
export class ReceivedStream implements IncomingStream {
  readonly ids: StreamIds;
  /** Whether somebody has asked for it: the observation that names it came. */
  announced = false;
  /** Told whenever something about the stream has changed. */
  onChange: (() => void) | undefined;
  readonly #port: IncomingPort;
  readonly #buffer = new ChunkBuffer();
  readonly #ended = Promise.withResolvers<IncomingEnd>();
  #face: DataStreamFace | undefined;
  #outcome: IncomingEnd | undefined;
  /** Why reads reject from now on, whatever is held. */
  #discarded: SluiceError | undefined;
  /** Whether the consumer itself gave it up. */
  #cancelled = false;
  #pulled = false;
  #wanted = false;
  #sequence = 0;
  #length = 0;
  #digest: string | undefined;
  #final = false;

  constructor(ids: StreamIds, port: IncomingPort) {
    this.ids = streamIds(ids);
    this.#port = port;
  }

  get data(): DataStream {
    if (this.#face === undefined) {
      this.#face = new DataStreamFace(this.#source());
      if (this.#discarded !== undefined) this.#face.error(this.#discarded);
    }
    return this.#face.stream;
  }

  get taken(): boolean {
    return this.#pulled || this.#cancelled || this.#face?.stream.locked === true;
  }

  get awaited(): boolean {
    return this.#wanted;
  }

  get full(): boolean {
    return this.#outcome === undefined && !this.unwanted && this.#port.flow.full;
  }

  get ended(): Promise<IncomingEnd> {
    return this.#ended.promise;
  }

  get outcome(): IncomingEnd | undefined {
    return this.#outcome;
  }

  /** Whether what comes is dropped. */
  get unwanted(): boolean {
    return this.#cancelled || this.#discarded !== undefined;
  }

  get length(): number {
    return this.#length;
  }

  /** Whether anything of it has come. */
  get begun(): boolean {
    return this.#sequence > 0;
  }

  /** Bytes held, and what memory they cost. */
  get held(): { readonly bytes: number; readonly cost: number } {
    return { bytes: this.#buffer.bytes, cost: this.#buffer.cost };
  }

  discard(reason: SluiceError): void {
    if (this.unwanted) return;
    this.#discarded = reason;
    this.#wanted = false;
    this.#face?.error(reason);
    this.#giveUp();
  }

  fail(fault: SluiceError): void {
    if (this.#outcome === undefined && !this.unwanted) this.#port.stop();
    this.lost(fault);
  }

  /** Nothing more can come of it. */
  lost(fault: SluiceError): void {
    this.#finish("fault", fault);
  }

  /**
   * Takes the header of its next frame.
   *
   * @throws {CompanionFault} `malformed` for a gap or repeat in the sequence, or payload over the credit.
   */
  frame(
    header: { readonly sequence: number; readonly length: number; readonly final: boolean },
    offset: number,
  ): void {
    const expected = this.#sequence;
    if (header.sequence !== expected)
      throw this.#malformed(offset, `has sequence ${header.sequence} where ${expected} follows`);
    if (!this.#port.flow.spend(header.length))
      throw this.#malformed(offset, `has ${header.length} bytes of payload over the credit`);
    this.#sequence += 1;
    this.#final = header.final;
  }

  /** Takes a part of the payload of the frame under way. */
  payload(bytes: Uint8Array, last: boolean): void {
    if (this.#outcome !== undefined) return;
    this.#length += bytes.length;
    this.#port.hash?.update(bytes);
    if (!this.unwanted) {
      if (this.#wanted && this.#buffer.bytes === 0 && bytes.length >= SMALL_BYTES)
        this.#hand(bytes);
      else this.#keep(bytes);
    }
    if (last && this.#final) this.#finish("final");
  }

  /** Its sender's source failed. */
  aborted(reason: string): void {
    const problem = `was aborted by its sender: ${shown(reason)}`;
    this.#finish("abort", streamFault(CompanionFaultCode.StreamAborted, this.ids, { problem }));
  }

  /** Grants what is due, once the consumer has asked for bytes. */
  #grant(): void {
    if (!this.#pulled || this.unwanted || this.#outcome !== undefined) return;
    const bytes = this.#port.flow.grant();
    if (bytes > 0) this.#port.grant(bytes);
  }

  #source(): ConstructorParameters<typeof DataStreamFace>[0] {
    const digest = (): string | undefined => this.#digest;
    const length = (): number => this.#length;
    return {
      get digest() {
        return digest();
      },
      get length() {
        return length();
      },
      pull: () => this.#pull(),
      cancel: () => this.#cancel(),
    };
  }

  #pull(): void {
    this.#pulled = true;
    this.#wanted = true;
    this.#deliver();
    this.#grant();
    this.#port.changed();
  }

  #cancel(): void {
    if (this.unwanted) return;
    this.#cancelled = true;
    this.#wanted = false;
    this.#giveUp();
  }

  /** Serves a waiting read; after the last byte that is held, tells how the stream ended. */
  #deliver(): void {
    while (this.#wanted && this.#buffer.bytes > 0) {
      const chunk = this.#buffer.shift()!;
      this.#wanted = false;
      this.#port.flow.release(chunk.length);
      this.#face?.enqueue(chunk); // pulls again at once where another read waits
    }
    if (!this.#wanted || this.#outcome === undefined) return;
    this.#wanted = false;
    const { fault } = this.#outcome;
    if (fault === undefined) this.#face?.close();
    else this.#face?.error(fault);
  }

  #keep(bytes: Uint8Array): void {
    this.#port.flow.hold(bytes.length);
    this.#buffer.push(bytes);
    this.#deliver();
  }

  /** Answers a waiting read with bytes that need not be held. */
  #hand(bytes: Uint8Array): void {
    this.#wanted = false;
    this.#port.flow.hold(bytes.length);
    this.#port.flow.release(bytes.length);
    this.#face?.enqueue(bytes);
  }

  #giveUp(): void {
    this.#port.flow.release(this.#buffer.clear());
    if (this.#outcome === undefined) this.#port.stop();
    this.#port.changed();
  }

  #finish(end: IncomingEnd["end"], fault?: SluiceError): void {
    if (this.#outcome !== undefined) return;
    const sha256 = this.#port.hash?.digestHex();
    const order = this.#port.nextEnd();
    this.#outcome = { end, length: this.#length, sha256, order, fault };
    if (end === "final" && sha256 !== undefined) this.#digest = `sha256:${sha256}`;
    this.#ended.resolve(this.#outcome);
    this.#deliver();
    this.#port.changed();
  }

  #malformed(offset: number, problem: string): CompanionFault {
    return malformed(offset, `${problem} of data stream ${shown(this.ids.stream_id)}`, {
      ids: this.ids,
    });
  }
}
