import { assertBytes } from "../../bytes/assert-bytes.ts";

/** What a stream can be sent from; its chunks must not be changed once they were handed over. */
export type ByteSource = Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** Reads a {@link ByteSource}, one chunk at a time and only when asked. */
export interface ByteSourceReader {
  /** All bytes of a source that holds them already. */
  readonly whole: Uint8Array | undefined;
  /** The next chunk with bytes in it; undefined at the end. */
  next(): Promise<Uint8Array | undefined>;
  /** Tells the source that nothing more is wanted; does not wait for it. */
  cancel(reason: unknown): void;
}

/**
 * Opens a source; nothing is read yet.
 *
 * @throws {TypeError} When it is neither bytes nor a source of chunks, or is locked.
 */
export function openSource(source: ByteSource): ByteSourceReader {
  if ("getReader" in source) return new StreamReader(source);
  if (Symbol.asyncIterator in source) return new IterableReader(source);
  assertBytes(source, "A data stream");
  return { whole: source, next: () => Promise.resolve(undefined), cancel: () => {} };
}

class StreamReader implements ByteSourceReader {
  readonly whole = undefined;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(source: ReadableStream<Uint8Array>) {
    this.#reader = source.getReader();
  }

  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      assertBytes(value, "A data stream");
      if (value.length > 0) return value;
    }
  }

  cancel(reason: unknown): void {
    this.#reader.cancel(reason).catch(ignore);
  }
}

class IterableReader implements ByteSourceReader {
  readonly whole = undefined;
  readonly #source: AsyncIterable<Uint8Array>;
  #iterator: AsyncIterator<Uint8Array> | undefined;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source;
  }

  async next(): Promise<Uint8Array | undefined> {
    this.#iterator ??= this.#source[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await this.#iterator.next();
      if (done === true) return undefined;
      assertBytes(value, "A data stream");
      if (value.length > 0) return value;
    }
  }

  cancel(): void {
    void this.#return().catch(ignore);
  }

  /** Also what `return` throws at once becomes a rejection. */
  async #return(): Promise<void> {
    await (this.#iterator ?? this.#source[Symbol.asyncIterator]()).return?.();
  }
}

function ignore(): void {}
