import { CompanionFault, CompanionFaultCode } from "./companion-fault.ts";
import type { ReceivedStream } from "./incoming-stream.ts";

/** What may be held of streams that nobody has asked for yet. */
export interface EarlyBounds {
  readonly bytes: number;
  readonly streams: number;
  /** Whether the oldest is forgotten when there are too many; else that is a fault. */
  readonly forget: boolean;
}

/** Streams whose frames, or end, came before anybody asked for them. */
export class EarlyStreams {
  readonly #bounds: EarlyBounds;
  readonly #streams: Map<ReceivedStream, number> = new Map();
  #bytes = 0;

  constructor(bounds: EarlyBounds) {
    this.#bounds = bounds;
  }

  /** How many there are. */
  get size(): number {
    return this.#streams.size;
  }

  [Symbol.iterator](): IterableIterator<ReceivedStream> {
    return [...this.#streams.keys()].values();
  }

  /**
   * Takes in a stream.
   *
   * @returns One that is forgotten for it.
   * @throws {CompanionFault} `early_data` when there are too many.
   */
  add(stream: ReceivedStream): ReceivedStream | undefined {
    this.#streams.set(stream, 0);
    if (this.#streams.size <= this.#bounds.streams) return undefined;
    if (!this.#bounds.forget)
      throw early(`${this.#streams.size} data streams`, { streams: this.#streams.size });
    const oldest = this.#streams.keys().next().value!;
    this.delete(oldest);
    return oldest;
  }

  /**
   * Counts bytes before they are kept.
   *
   * @throws {CompanionFault} `early_data` when they are too many.
   */
  count(stream: ReceivedStream, bytes: number): void {
    const held = this.#streams.get(stream);
    if (held === undefined) return;
    this.#bytes += bytes;
    this.#streams.set(stream, held + bytes);
    if (this.#bytes > this.#bounds.bytes)
      throw early(`${this.#bytes} bytes of data streams`, { bytes: this.#bytes });
  }

  /** Lets a stream go: somebody asked for it, or nobody will. */
  delete(stream: ReceivedStream): void {
    this.#bytes -= this.#streams.get(stream) ?? 0;
    this.#streams.delete(stream);
  }
}

function early(what: string, data: Readonly<Record<string, number>>): CompanionFault {
  const message = `${what} came without an observation that announces them; write the observation first`;
  return new CompanionFault(CompanionFaultCode.EarlyData, message, { data });
}
