import type { IncomingEnd } from "../companion/mod.ts";
import type { Summary } from "../summary.ts";

/** Adds the ends of a run's data streams to its summary, in the order in which they ended on the channel. */
export class StreamSummary {
  readonly #summary: Summary;
  readonly #heldEarly: () => boolean;
  #ends: (IncomingEnd & { readonly id: string })[] = [];
  #whole = true;

  /** @param heldEarly Whether streams may have ended on the channel that are not announced yet. */
  constructor(summary: Summary, heldEarly: () => boolean) {
    this.#summary = summary;
    this.#heldEarly = heldEarly;
  }

  /**
   * A stream has ended.
   *
   * @param open Whether others of the run have not: one of them may have ended before on the channel.
   */
  ended(id: string, end: IncomingEnd, open: boolean): void {
    this.#ends.push({ ...end, id });
    if (!open && !this.#heldEarly()) this.#add();
  }

  /**
   * The digest, at the end.
   *
   * @returns Undefined where a stream did not come whole, so that nobody can tell.
   */
  digest(): string | undefined {
    this.#add();
    return this.#whole ? this.#summary.digest() : undefined;
  }

  #add(): void {
    const ends = this.#ends.toSorted((a, b) => a.order - b.order);
    this.#ends = [];
    for (const { end, id, length, sha256 } of ends) {
      if (end === "fault" || sha256 === undefined) this.#whole = false;
      else this.#summary.streamEnded({ end, id, length, sha256 });
    }
  }
}
