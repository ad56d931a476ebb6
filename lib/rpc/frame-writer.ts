import { SluiceError, toSluiceError } from "../errors.ts";
import { checkLimit, DEFAULT_LIMITS } from "../limits.ts";
import { FrameQueue } from "./frame-queue.ts";
import type { QueuedFrame } from "./frame-queue.ts";

/** Options of a {@link FrameWriter}. */
export interface FrameWriterOptions {
  /** Most bytes waiting or being written. Default 4 MiB. */
  readonly writeQueueBytes?: number;
  /** Called once when the stream fails by itself, not after `abort`. */
  readonly onFailure?: (failure: SluiceError) => void;
}

/**
 * One ordered, bounded queue of frames in front of a byte stream.
 *
 * One write is under way at a time; what is queued meanwhile, or within one microtask, is joined into
 * the next. A stream that errors rejects everything that waits, also while a write hangs.
 * The promises it gives are marked as handled: a rejection that nobody looks at stays silent.
 */
export class FrameWriter {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #limit: number;
  readonly #onFailure: ((failure: SluiceError) => void) | undefined;
  readonly #queue = new FrameQueue();
  #underway: readonly QueuedFrame[] = [];
  #underwayBytes = 0;
  #pumping = false;
  #failure: SluiceError | undefined;
  #closing: PromiseWithResolvers<void> | undefined;
  #closed = false;

  /**
   * @param writable The stream; it is locked from here on.
   * @throws {RangeError} When `writeQueueBytes` is not a whole number of at least 1.
   */
  constructor(writable: WritableStream<Uint8Array>, options: FrameWriterOptions = {}) {
    this.#limit = checkLimit(
      "writeQueueBytes",
      options.writeQueueBytes ?? DEFAULT_LIMITS.writeQueueBytes,
    );
    this.#onFailure = options.onFailure;
    this.#writer = writable.getWriter();
    this.#writer.closed.then(undefined, (thrown: unknown) => this.#fail(thrown));
  }

  /** Bytes waiting or being written. */
  get queuedBytes(): number {
    return this.#queue.bytes + this.#underwayBytes;
  }

  /** Whether frames are taken: neither failed nor closed by this side. */
  get open(): boolean {
    return this.#failure === undefined && this.#closing === undefined;
  }

  /** Why the stream no longer takes anything; undefined while it does. */
  get failure(): SluiceError | undefined {
    return this.#failure;
  }

  /** Tells why a frame of this size could not be queued now: the failure, `write_closed` or `write_queue_full`. */
  refusal(size: number): SluiceError | undefined {
    if (this.#failure !== undefined) return this.#failure;
    if (this.#closing !== undefined) {
      return new SluiceError("write_closed", "The sending direction was closed by this side");
    }
    const queued = this.queuedBytes;
    if (queued + size <= this.#limit) return undefined;
    return new SluiceError(
      "write_queue_full",
      `${queued} bytes wait to be written and ${size} more exceed the limit of ${this.#limit}; the peer reads too slowly`,
      { data: { queuedBytes: queued, frameBytes: size, writeQueueBytes: this.#limit } },
    );
  }

  /**
   * Queues one frame; the bytes must not change afterwards.
   *
   * @returns Resolves when the stream has taken the frame. Rejects at once as {@link FrameWriter.refusal}
   *   says, nothing being queued then; later with `write_failed` (cause kept) or the reason of `abort`.
   */
  write(frame: Uint8Array): Promise<void> {
    const refusal = this.refusal(frame.length);
    const settled = Promise.withResolvers<void>();
    settled.promise.catch(ignore);
    if (refusal !== undefined) {
      settled.reject(refusal);
      return settled.promise;
    }
    this.#queue.push({ bytes: frame, resolve: settled.resolve, reject: settled.reject });
    if (!this.#pumping) {
      this.#pumping = true;
      queueMicrotask(() => void this.#pump());
    }
    return settled.promise;
  }

  /**
   * Writes what is queued, then closes the stream; frames after this are refused.
   *
   * @returns Resolves when the stream has closed; rejects as queued writes do.
   */
  close(): Promise<void> {
    if (this.#closing !== undefined) return this.#closing.promise;
    const closing = (this.#closing = Promise.withResolvers<void>());
    closing.promise.catch(ignore);
    if (this.#failure !== undefined) closing.reject(this.#failure);
    else if (!this.#pumping) this.#closeStream();
    return closing.promise;
  }

  /** Drops what is queued and aborts the stream; everything that waits rejects with the reason. */
  abort(reason: SluiceError): void {
    if (this.#closed || this.#failure !== undefined) return;
    this.#rejectAll(reason);
    this.#writer.abort(reason).catch(ignore);
  }

  async #pump(): Promise<void> {
    while (this.#failure === undefined && this.#queue.size > 0) {
      const { frames, bytes } = this.#queue.take();
      this.#underway = frames;
      this.#underwayBytes = bytes.length;
      try {
        await this.#hand(bytes);
      } catch (thrown) {
        this.#fail(thrown);
        return;
      }
      this.#underway = [];
      this.#underwayBytes = 0;
      for (const frame of frames) frame.resolve();
    }
    this.#pumping = false;
    if (this.#failure === undefined && this.#closing !== undefined) this.#closeStream();
  }

  #hand(bytes: Uint8Array): Promise<void> {
    const written = this.#writer.write(bytes);
    // A stream that errors during a write rejects `ready` at once, but the write only when its sink lets go.
    this.#writer.ready.catch((thrown: unknown) => this.#fail(thrown));
    return written;
  }

  #closeStream(): void {
    this.#writer.close().then(
      () => {
        this.#closed = true;
        this.#closing?.resolve();
      },
      (thrown: unknown) => this.#fail(thrown),
    );
  }

  #fail(thrown: unknown): void {
    if (this.#closed || this.#failure !== undefined) return;
    const failure = toSluiceError(
      thrown,
      "write_failed",
      "Writing to the peer failed; it has ended or no longer takes input",
    );
    this.#rejectAll(failure);
    this.#onFailure?.(failure);
  }

  #rejectAll(reason: SluiceError): void {
    this.#failure = reason;
    for (const frame of this.#underway) frame.reject(reason);
    for (const frame of this.#queue.clear()) frame.reject(reason);
    this.#underway = [];
    this.#underwayBytes = 0;
    this.#closing?.reject(reason);
  }
}

function ignore(): void {}
