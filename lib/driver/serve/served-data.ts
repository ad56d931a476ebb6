import type { SluiceError } from "../../errors.ts";
import { checkSource } from "../check-source.ts";
import {
  type ByteSource,
  type CompanionDriver,
  CompanionFaultCode,
  type InvocationIds,
  type OutgoingEnd,
  type OutgoingStream,
  type StreamIds,
  streamFault,
  streamOfHandle,
} from "../companion/mod.ts";
import type { ExactInputHandle } from "../contract/invoke.ts";
import type { Summary } from "../summary.ts";

/** The data plane of one invocation at the driver's end: what it sends, and its input. */
export class ServedData {
  readonly #companion: CompanionDriver | undefined;
  readonly #ids: InvocationIds;
  readonly #open: Set<OutgoingStream> = new Set();
  readonly #summary: Summary;
  /** How streams ended while others are open, one of which may come before in the summary. */
  #ends: (OutgoingEnd & { readonly id: string })[] = [];
  #count = 0;
  #over = false;

  constructor(companion: CompanionDriver | undefined, ids: InvocationIds, summary: Summary) {
    this.#companion = companion;
    this.#ids = ids;
    this.#summary = summary;
  }

  /**
   * Names the stream of a source that is about to be announced.
   *
   * @throws {CompanionFault} `unavailable` when there is no channel.
   * @throws {TypeError} When the source is none.
   */
  nextStreamId(source: ByteSource): string {
    checkSource(source, "The data of an observation");
    this.#count += 1;
    const stream_id = `data-${this.#count}`;
    if (this.#companion !== undefined) return stream_id;
    const problem = "cannot be sent: the host has offered no companion channel";
    throw streamFault(CompanionFaultCode.Unavailable, { ...this.#ids, stream_id }, { problem });
  }

  /**
   * Sends an announced stream; resolves once it has ended.
   *
   * @throws {CompanionFault} `stream_aborted` when its source failed, `truncated`.
   */
  async send(streamId: string, source: ByteSource): Promise<void> {
    const stream = this.#companion!.sendData({ ...this.#ids, stream_id: streamId }, source);
    this.#open.add(stream);
    try {
      const end = await stream.ended;
      this.#ends.push({ ...end, id: streamId });
      if (end.fault?.code === CompanionFaultCode.StreamAborted) throw end.fault;
    } finally {
      this.#open.delete(stream);
      if (this.#open.size === 0) this.#sum();
    }
  }

  /** Ends what is still being sent. */
  abort(reason: SluiceError): void {
    for (const stream of this.#open) stream.abort(reason);
  }

  /** Waits until every stream has ended and is in the summary. */
  async settle(): Promise<void> {
    while (this.#open.size > 0) {
      await Promise.allSettled(Array.from(this.#open, async ({ ended }) => await ended));
      await Promise.resolve();
    }
  }

  /** The input that a handle of the companion channel names; undefined for a handle of another kind. */
  input(handle: ExactInputHandle): ReadableStream<Uint8Array> | undefined {
    const streamId = streamOfHandle(handle);
    if (streamId === undefined) return undefined;
    if (streamId === null) return new ReadableStream({ start: (controller) => controller.close() });
    const ids = { ...this.#ids, stream_id: streamId };
    if (this.#companion === undefined)
      return unreadable(ids, "this driver has no companion channel");
    if (this.#over) return unreadable(ids, "its invocation has ended");
    return this.#companion.input(ids).data;
  }

  /** Adds to the summary what has ended, in the order of the ends on the channel. */
  #sum(): void {
    const ends = this.#ends.toSorted((a, b) => a.order - b.order);
    this.#ends = [];
    for (const { end, id, length, sha256 } of ends)
      if (sha256 !== undefined) this.#summary.streamEnded({ end, id, length, sha256 });
  }

  /** The invocation is over: what still comes for it is dropped. */
  end(): void {
    this.#over = true;
    this.#companion?.endInvocation(this.#ids);
  }
}

function unreadable(ids: StreamIds, why: string): ReadableStream<Uint8Array> {
  const fault = streamFault(CompanionFaultCode.Unavailable, ids, {
    problem: `cannot be read: ${why}`,
  });
  return new ReadableStream<Uint8Array>({ start: (controller) => controller.error(fault) });
}
