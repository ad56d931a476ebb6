import { assertBytes } from "../bytes/assert-bytes.ts";
import { SluiceError } from "../errors.ts";
import { checkLimit } from "../limits.ts";
import type { ByteDuplex } from "./duplex.ts";

/** Options of {@link duplexPair}. */
export interface DuplexPairOptions {
  /** Bytes a direction takes before its writer waits; a single chunk may go beyond. Default 65 536. */
  readonly highWaterMark?: number | undefined;
}

/**
 * Makes two connected ends in memory: what one writes, the other reads.
 *
 * Chunks are handed over as they are, so a writer must leave them alone. A write resolves at once
 * when its direction then holds no more bytes than the high-water mark, else once it holds fewer;
 * chunks of no bytes are dropped, as in pipes.
 * Closing a writable ends the other side's readable after what it holds, and leaves the other
 * direction open. Cancelling a readable makes the other side's writes reject with SluiceError
 * `peer_closed` (the reason as its cause). Aborting a writable errors the other side's readable at
 * once with the reason, and drops what it holds.
 *
 * @throws {RangeError} When `highWaterMark` is not a whole number from 1.
 */
export function duplexPair(options: DuplexPairOptions = {}): [ByteDuplex, ByteDuplex] {
  const highWaterMark = checkLimit("highWaterMark", options.highWaterMark ?? 64 * 1024);
  const [there, back] = [new Direction(highWaterMark), new Direction(highWaterMark)];
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ];
}

class Direction {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  #reads!: ReadableStreamDefaultController<Uint8Array>;
  #writes!: WritableStreamDefaultController;
  /** The write that waits for room. */
  #waiting: PromiseWithResolvers<void> | undefined;

  constructor(highWaterMark: number) {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#reads = controller),
        pull: () => this.#waiting?.resolve(),
        cancel: (reason) => this.#cancel(reason),
      },
      { highWaterMark, size: (chunk) => chunk.length },
    );
    this.writable = new WritableStream<Uint8Array>(
      {
        start: (controller) => this.#start(controller),
        write: (chunk) => this.#write(chunk),
        close: () => this.#reads.close(),
      },
      { highWaterMark: 1 },
    );
  }

  #start(controller: WritableStreamDefaultController): void {
    this.#writes = controller;
    controller.signal.addEventListener("abort", () => this.#abort(controller.signal.reason), {
      once: true,
    });
  }

  #write(chunk: Uint8Array): Promise<void> | undefined {
    assertBytes(chunk, "duplexPair()");
    if (chunk.length > 0) this.#reads.enqueue(chunk);
    if ((this.#reads.desiredSize ?? 0) >= 0) return undefined;
    this.#waiting = Promise.withResolvers<void>();
    return this.#waiting.promise;
  }

  #cancel(reason: unknown): void {
    const error = new SluiceError("peer_closed", "The other side wants no more bytes", {
      cause: reason,
    });
    this.#writes.error(error);
    this.#waiting?.reject(error);
  }

  #abort(reason: unknown): void {
    this.#reads.error(reason);
    this.#waiting?.reject(reason);
  }
}
