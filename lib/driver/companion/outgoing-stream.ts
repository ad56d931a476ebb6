import type { SluiceError } from "../../errors.ts";
import type { Sha256 } from "../../json/digest.ts";
import type { DataFrameHeader } from "../contract/data-frame-header.ts";
import { abortReason } from "./abort-reason.ts";
import { type ByteSource, type ByteSourceReader, openSource } from "./byte-source.ts";
import { CompanionFaultCode, shown, streamFault } from "./companion-fault.ts";
import type { CompanionAbort } from "./contract.ts";
import { streamIds, type StreamIds } from "./stream-ids.ts";

/** How a sent stream ended. */
export interface OutgoingEnd {
  /** By its final frame, or by an abort. */
  readonly end: "final" | "abort";
  /** Bytes sent. */
  readonly length: number;
  /** sha256 of them, lower-case hex; absent where no digests are made. */
  readonly sha256: string | undefined;
  /** Rises with each end on the channel, so that ends can be put in wire order. */
  readonly order: number;
  /** Why it was aborted: the source failed, the receiver stopped it, or its owner gave it up. */
  readonly fault: SluiceError | undefined;
}

/** A stream that this side sends. */
export interface OutgoingStream {
  readonly ids: StreamIds;
  /**
   * How it ended, once its last frame was written. Rejects with {@link CompanionFault} `truncated` when
   * the channel ends first; marked as handled.
   */
  readonly ended: Promise<OutgoingEnd>;
  /** Lets it begin, towards a driver that knows no credit; others begin when they grant credit. */
  start(): void;
  /** Ends it with an abort block; does nothing once it has ended. */
  abort(reason: SluiceError): void;
}

/** What a {@link SentStream} stands on. */
export interface OutgoingPort {
  readonly hash: Sha256 | undefined;
  /** Queues a data frame. */
  frame(header: DataFrameHeader, payload: Uint8Array): Promise<void>;
  /** Queues an abort block. */
  abort(block: CompanionAbort): Promise<void>;
  /** It has payload that may be sent: call {@link SentStream.sendFrame} when there is room. */
  ready(): void;
  /** Its owner lets it begin. */
  start(): void;
  /** Its last frame is queued, or it was lost. */
  ended(): void;
  nextEnd(): number;
}

/** The sending end of one stream: reads its source only as far as it may send. */
export class SentStream implements OutgoingStream {
  readonly ids: StreamIds;
  readonly #port: OutgoingPort;
  readonly #source: ByteSourceReader;
  readonly #ended = Promise.withResolvers<OutgoingEnd>();
  /** What was read and not yet sent. */
  #chunk: Uint8Array | undefined;
  #credit = 0;
  #reading = false;
  #over = false;
  #sequence = 0;
  #length = 0;

  constructor(ids: StreamIds, source: ByteSource, port: OutgoingPort) {
    this.ids = streamIds(ids);
    this.#port = port;
    this.#source = openSource(source);
    this.#chunk = this.#source.whole;
    this.#ended.promise.catch(ignore);
  }

  get ended(): Promise<OutgoingEnd> {
    return this.#ended.promise;
  }

  /** Whether its last frame is queued, or it was lost. */
  get over(): boolean {
    return this.#over;
  }

  /** Whether it has payload that it may send. */
  get sendable(): boolean {
    return !this.#over && this.#credit > 0 && this.#chunk !== undefined;
  }

  start(): void {
    if (!this.#over) this.#port.start();
  }

  /** Streams may be sent from now on: one that is known to be empty needs no credit to end. */
  open(): void {
    if (!this.#over && this.#chunk?.length === 0) this.#finish();
  }

  /** The receiver takes this many bytes more. */
  grant(bytes: number): void {
    if (this.#over) return;
    this.#credit += bytes;
    this.#next();
  }

  /** Sends one frame of at most this many bytes. */
  sendFrame(maxBytes: number): void {
    const chunk = this.#chunk!;
    const size = Math.min(chunk.length, this.#credit, maxBytes);
    const rest = size < chunk.length ? chunk.subarray(size) : undefined;
    this.#chunk = rest;
    this.#credit -= size;
    const payload = chunk.subarray(0, size);
    if (rest === undefined && this.#source.whole !== undefined) return this.#finish(payload);
    void this.#frame(payload, false);
    if (rest === undefined) this.#read();
  }

  /** The receiver wants nothing more. */
  stop(): void {
    const problem = "was stopped by its receiver";
    this.abort(streamFault(CompanionFaultCode.StreamStopped, this.ids, { problem }));
  }

  abort(reason: SluiceError): void {
    this.#abort(reason, abortReason(reason));
  }

  /** Nothing can be sent any more. */
  lost(cause: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#chunk = undefined;
    this.#source.cancel(cause);
    this.#ended.reject(this.#truncated(cause));
    this.#port.ended();
  }

  #abort(fault: SluiceError, reason: string): void {
    if (this.#over) return;
    this.#source.cancel(fault);
    const block = { type: "abort", ...this.ids, reason } as const;
    this.#end("abort", { written: this.#port.abort(block), fault });
  }

  #next(): void {
    if (this.#chunk === undefined) this.#read();
    else this.#port.ready();
  }

  #read(): void {
    if (this.#reading || this.#over) return;
    this.#reading = true;
    this.#source.next().then(
      (chunk) => {
        this.#reading = false;
        if (this.#over) return;
        this.#chunk = chunk;
        if (chunk === undefined) this.#finish();
        else if (this.#credit > 0) this.#port.ready();
      },
      (cause: unknown) => {
        const reason = abortReason(cause);
        const problem = `was aborted, as its source failed: ${shown(reason)}`;
        this.#abort(
          streamFault(CompanionFaultCode.StreamAborted, this.ids, { problem, cause }),
          reason,
        );
      },
    );
  }

  #frame(payload: Uint8Array, final: boolean): Promise<void> {
    const sequence = this.#sequence;
    this.#sequence += 1;
    this.#length += payload.length;
    this.#port.hash?.update(payload);
    return this.#port.frame({ ...this.ids, sequence, length: payload.length, final }, payload);
  }

  #finish(payload: Uint8Array = EMPTY): void {
    this.#end("final", { written: this.#frame(payload, true), fault: undefined });
  }

  #end(
    end: OutgoingEnd["end"],
    { written, fault }: { written: Promise<void>; fault: SluiceError | undefined },
  ): void {
    this.#over = true;
    this.#chunk = undefined;
    const order = this.#port.nextEnd();
    const outcome = {
      end,
      length: this.#length,
      sha256: this.#port.hash?.digestHex(),
      order,
      fault,
    };
    written.then(
      () => this.#ended.resolve(outcome),
      (cause: unknown) => this.#ended.reject(this.#truncated(cause)),
    );
    this.#port.ended();
  }

  #truncated(cause: unknown): SluiceError {
    const problem = "was cut off: the channel ended before its last frame was written";
    return streamFault(CompanionFaultCode.Truncated, this.ids, { problem, cause });
  }
}

const EMPTY = new Uint8Array(0);

function ignore(): void {}
