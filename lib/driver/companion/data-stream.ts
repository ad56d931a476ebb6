/**
 * The bytes of a companion stream, with what is known of them at the end.
 *
 * It reads only when asked. Taking it is locking it (a reader, an iterator, a pipe, a tee).
 */
export interface DataStream extends ReadableStream<Uint8Array> {
  /** `sha256:` and 64 hex digits over all bytes, once the stream has ended with its final frame. */
  readonly digest: string | undefined;
  /** Bytes that have come so far; all of them once {@link DataStream.digest} is set. */
  readonly length: number;
}

/** What a {@link DataStreamFace} stands on. */
export interface DataSource {
  readonly digest: string | undefined;
  readonly length: number;
  /** A read waits; answered with the face's `enqueue`, `close` or `error`, now or later. */
  pull(): void;
  /** The consumer wants nothing more. */
  cancel(): void;
}

/** The consumer's face of a companion stream: a web stream that holds nothing of its own. */
export class DataStreamFace {
  readonly stream: DataStream;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #open = true;

  constructor(source: DataSource) {
    const readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: () => source.pull(),
        cancel: () => {
          this.#open = false;
          source.cancel();
        },
      },
      { highWaterMark: 0 },
    );
    this.stream = Object.defineProperties(readable, {
      digest: { get: () => source.digest, enumerable: true },
      length: { get: () => source.length, enumerable: true },
    }) as DataStream;
  }

  enqueue(chunk: Uint8Array): void {
    if (this.#open) this.#controller.enqueue(chunk);
  }

  close(): void {
    if (this.#open) this.#controller.close();
    this.#open = false;
  }

  error(reason: unknown): void {
    if (this.#open) this.#controller.error(reason);
    this.#open = false;
  }
}
