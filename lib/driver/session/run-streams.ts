import type { CompanionFault, IncomingEnd, IncomingStream } from "../companion/mod.ts";
import type { SluiceError } from "../../errors.ts";

/** How a stream of a run ended, with the id that it had. */
export interface RunStreamEnd extends IncomingEnd {
  readonly id: string;
}

/** The data streams of one run: which are open, and which the consumer let pass. */
export class RunStreams {
  readonly #hold: number;
  readonly #open: Set<IncomingStream> = new Set();
  /** How the streams ended; undefined when nobody asks. */
  readonly #ends: RunStreamEnd[] | undefined;
  /** Streams whose observation has passed, untaken and still open for a prefetching consumer. */
  #held: IncomingStream[] = [];
  /** Bytes of streams that have ended. */
  #ended = 0;
  #whenSettled: (() => void) | undefined;

  /**
   * @param hold How many untaken streams stay open although their observation has passed.
   * @param ends Whether to keep how each stream ended.
   */
  constructor(hold: number, ends: boolean) {
    this.#hold = hold;
    this.#ends = ends ? [] : undefined;
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

  /** How those that have ended did, in the order in which they ended on the channel. */
  get ends(): readonly RunStreamEnd[] {
    return this.#ends?.toSorted((a, b) => a.order - b.order) ?? [];
  }

  add(stream: IncomingStream): void {
    this.#open.add(stream);
    void stream.ended.then((end) => {
      this.#ends?.push({ ...end, id: stream.ids.stream_id });
      this.#ended += end.length;
      this.#open.delete(stream);
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
