import type { CompanionFault, IncomingStream } from "../companion/mod.ts";
import type { SluiceError } from "../../errors.ts";
import type { StreamSummary } from "./stream-summary.ts";

/** The data streams of one run: which are open, and which the consumer let pass. */
export class RunStreams {
  readonly #hold: number;
  readonly #open: Set<IncomingStream> = new Set();
  readonly #summary: StreamSummary | undefined;
  /** Streams whose observation has passed, untaken and still open for a prefetching consumer. */
  #held: IncomingStream[] = [];
  /** Bytes of streams that have ended. */
  #ended = 0;
  #whenSettled: (() => void) | undefined;

  /**
   * @param hold How many untaken streams stay open although their observation has passed.
   * @param summary Told how each stream ended.
   */
  constructor(hold: number, summary: StreamSummary | undefined) {
    this.#hold = hold;
    this.#summary = summary;
  }

  /** Streams that have not ended on the channel. */
  get open(): ReadonlySet<IncomingStream> {
    return this.#open;
  }

  /** Whether the consumer waits for bytes of one of them. */
  get awaited(): boolean {
    for (const stream of this.#open) if (stream.awaited) return true;
    return false;
  }

  /** Open streams that cannot go on before the consumer takes them, or takes more of them. */
  get blocked(): readonly IncomingStream[] {
    return [...this.#open].filter((stream) => stream.full && !stream.awaited);
  }

  /** Bytes that have come of all streams. */
  get received(): number {
    let bytes = this.#ended;
    for (const { length } of this.#open) bytes += length;
    return bytes;
  }

  add(stream: IncomingStream): void {
    this.#open.add(stream);
    void stream.ended.then((end) => {
      this.#ended += end.length;
      this.#open.delete(stream);
      this.#summary?.ended(stream.ids.stream_id, end, this.#open.size > 0);
      if (this.#open.size === 0) this.#whenSettled?.();
    });
  }

  /** The consumer asked for what follows the observation of this stream: untaken, it is discarded. */
  passed(stream: IncomingStream, reason: () => SluiceError): void {
    this.#held = this.#held.filter((held) => !held.taken);
    if (!stream.taken) this.#held.push(stream);
    while (this.#held.length > this.#hold) this.#held.shift()!.discard(reason());
  }

  /** Nobody wants what has not ended: every read of it rejects with the reason. */
  discardAll(reason: SluiceError): void {
    for (const stream of this.#open) stream.discard(reason);
  }

  /** What has not ended is not waited for any longer. */
  failAll(fault: (stream: IncomingStream) => CompanionFault): void {
    for (const stream of this.#open) stream.fail(fault(stream));
  }

  /** Calls back once, when every stream has ended; at once when none is open. */
  onceSettled(callback: () => void): void {
    if (this.#open.size === 0) callback();
    else {
      this.#whenSettled = () => {
        this.#whenSettled = undefined;
        callback();
      };
    }
  }
}
