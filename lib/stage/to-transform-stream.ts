import type { FaceOptions, FaceOutput, FaultMode } from "./face-options.ts";
import { FaceSink } from "./face-sink.ts";
import type { Stage } from "./stage.ts";

/** Both ends of a face, for `pipeThrough()`. */
export interface StagePair<I, O> {
  readonly readable: ReadableStream<O>;
  readonly writable: WritableStream<I>;
}

/**
 * Makes a stage a pair of web streams.
 *
 * The readable side is driven by reads alone and holds the outputs of one written chunk at most:
 * `write()` resolves when they were all taken, so backpressure reaches the source. After a fault
 * (with `faults: "error"`) or a throw of the stage, everything made before it is delivered; then the
 * write rejects with it, which releases a piped source, and the next read rejects with it.
 * Cancelling the readable side errors the writable one with the reason; aborting the writable side
 * errors the readable one at once. Either way the stage is not run again.
 *
 * @param stage Used by this pair alone, as it holds state.
 * @throws {TypeError} When an option is wrong.
 */
export function toTransformStream<I, O, B extends boolean = false, F extends FaultMode = "error">(
  stage: Stage<I, O>,
  options: FaceOptions<B, F> = {},
): StagePair<I, FaceOutput<O, B, F>> {
  const face = new TransformFace(stage, options);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the options say what the sink holds
  const readable = face.readable as ReadableStream<FaceOutput<O, B, F>>;
  return { readable, writable: face.writable };
}

class TransformFace<I, O> {
  readonly readable: ReadableStream<unknown>;
  readonly writable: WritableStream<I>;
  readonly #sink: FaceSink<I, O>;
  #reads!: ReadableStreamDefaultController<unknown>;
  #writes!: WritableStreamDefaultController;
  /** A read waits, and nothing was enqueued for it yet. */
  #wanted = false;
  #delivering = false;
  #closing = false;
  /** The write or close under way. */
  #pending: PromiseWithResolvers<void> | undefined;

  constructor(stage: Stage<I, O>, options: FaceOptions) {
    this.#sink = new FaceSink(stage, options);
    this.readable = new ReadableStream<unknown>(
      {
        start: (controller) => void (this.#reads = controller),
        pull: () => this.#pull(),
        cancel: (reason) => this.#cancel(reason),
      },
      { highWaterMark: 0 },
    );
    this.writable = new WritableStream<I>(
      {
        start: (controller) => this.#start(controller),
        write: (input) => this.#write(input),
        close: () => this.#close(),
      },
      { highWaterMark: 1 },
    );
  }

  #start(controller: WritableStreamDefaultController): void {
    this.#writes = controller;
    // The signal comes at once; the sink's own `abort` would wait for a write that waits for a reader.
    controller.signal.addEventListener("abort", () => this.#abort(controller.signal.reason), {
      once: true,
    });
  }

  #pull(): void {
    this.#wanted = true;
    this.#deliver();
  }

  #write(input: I): Promise<void> | undefined {
    this.#sink.push(input);
    return this.#outcome();
  }

  #close(): Promise<void> | undefined {
    this.#closing = true;
    this.#sink.end();
    return this.#outcome();
  }

  /** Waits until what the call made was taken; settles as the face then stands. */
  #outcome(): Promise<void> | undefined {
    this.#deliver();
    const { failure, items } = this.#sink;
    if (items.length > 0) {
      this.#pending = Promise.withResolvers<void>();
      return this.#pending.promise;
    }
    return failure === undefined ? undefined : Promise.reject(failure.reason);
  }

  /**
   * Serves waiting reads. All items but the last go to the stream's own queue together; the last is
   * kept back, as the read that asks for it tells that the others were taken.
   */
  #deliver(): void {
    if (this.#delivering) return; // a pull from within enqueue
    this.#delivering = true;
    while (this.#wanted && this.#sink.items.length > 0) {
      const items = this.#sink.take();
      if (items.length > 1) this.#sink.items = [items.pop()];
      this.#wanted = false;
      for (const item of items) this.#reads.enqueue(item);
      // Several reads may have waited; the pull of one that the queue has served by now is void.
      if ((this.#reads.desiredSize ?? 0) < 0) this.#wanted = false;
    }
    this.#delivering = false;
    if (this.#sink.items.length === 0) this.#taken();
  }

  #taken(): void {
    const { failure } = this.#sink;
    if (failure === undefined) {
      this.#pending?.resolve();
      if (this.#closing) this.#finish();
    } else {
      this.#pending?.reject(failure.reason);
      if (this.#wanted) this.#reads.error(failure.reason);
    }
    this.#pending = undefined;
  }

  #finish(): void {
    this.#closing = false;
    if (this.#sink.open) this.#reads.close();
    this.#sink.close();
  }

  #cancel(reason: unknown): void {
    this.#sink.close();
    this.#writes.error(reason);
    this.#pending?.reject(reason);
  }

  #abort(reason: unknown): void {
    this.#sink.close();
    this.#reads.error(reason);
    this.#pending?.reject(reason);
  }
}
