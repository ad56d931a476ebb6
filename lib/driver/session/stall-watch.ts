import type { Timer } from "../../clock.ts";
import { CompanionFaultCode, type IncomingStream, streamFault } from "../companion/mod.ts";
import type { CompanionPlane } from "./companion-plane.ts";
import type { Link } from "./link.ts";
import type { Entry } from "./run-entry.ts";

/**
 * Frees a session in which a data stream waits for its consumer, somebody waits for something else, and
 * nothing comes on either plane (companion-v1 §5, §6): after `stallTimeout` that stream is given up.
 *
 * A stream that nobody has taken counts as well: its driver may send nothing of it, and nothing else before.
 */
export class StallWatch {
  readonly #link: Link;
  readonly #plane: CompanionPlane;
  readonly #entries: Iterable<Entry>;
  #timer: Timer | undefined;

  /** @param entries The runs that are not over. */
  constructor(link: Link, plane: CompanionPlane, entries: Iterable<Entry>) {
    this.#link = link;
    this.#plane = plane;
    this.#entries = entries;
  }

  /** A frame came on either plane: whoever waits may yet be served. */
  progress(): void {
    this.stop();
    this.check();
  }

  /** Something changed that may begin or end a stall. */
  check(): void {
    if (this.#plane.host === undefined) return;
    if (
      this.#link.reason !== undefined ||
      this.#link.waits.length === 0 ||
      this.#stuck.length === 0
    )
      this.stop();
    else
      this.#timer ??= this.#link.clock.setTimer(() => this.#free(), this.#link.limits.stallTimeout);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  get #stuck(): readonly IncomingStream[] {
    return [...this.#entries].flatMap(({ run }) => run.streams.blocked);
  }

  #free(): void {
    this.#timer = undefined;
    const code =
      this.#plane.host?.serial === true
        ? CompanionFaultCode.HeadOfLine
        : CompanionFaultCode.ConsumerStalled;
    const waits = this.#link.waits.slice(0, 4).join(", ");
    const problem = `was given up: its consumer took nothing for ${this.#link.limits.stallTimeout} ms while the session waited for ${waits}`;
    for (const stream of this.#stuck) stream.discard(streamFault(code, stream.ids, { problem }));
    this.#link.changed();
  }
}
