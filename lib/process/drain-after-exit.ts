import type { Clock, Timer } from "../clock.ts";

/** Why a pipe was ended before its end, after its child had exited. */
export interface PipeCut {
  /** `idle`: nothing came for the grace while a read waited; `bytes`: more came than the bound. */
  readonly reason: "idle" | "bytes";
  /** Bytes that came after the exit and were passed on. */
  readonly bytes: number;
}

/** The bounds of {@link boundedAfterExit}. */
export interface AfterExitOptions {
  readonly clock: Clock;
  /** Milliseconds that a read may wait after the exit; time in which nobody reads does not count. */
  readonly grace: number;
  /** Bytes that may come after the exit. */
  readonly bytes: number;
  /** Told once when the pipe is cut. */
  readonly onCut?: ((cut: PipeCut) => void) | undefined;
}

/**
 * Passes a child's pipe on and, once the child has exited, ends it within bounds.
 *
 * A process that outlives the child and holds its pipe can thus neither hang the reader nor feed it
 * for ever; what the child itself wrote before its exit comes through whole. One read of the source
 * for each read of the result, nothing ahead.
 *
 * @param source The pipe; it is locked from here on and cancelled at a cut.
 * @param exited Resolves at the exit.
 */
export function boundedAfterExit(
  source: ReadableStream<Uint8Array>,
  exited: Promise<unknown>,
  options: AfterExitOptions,
): ReadableStream<Uint8Array> {
  return new ReadableStream(new BoundedPipe(source, exited, options), { highWaterMark: 0 });
}

class BoundedPipe implements UnderlyingDefaultSource<Uint8Array> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #options: AfterExitOptions;
  #exited = false;
  #passed = 0;
  #timer: Timer | undefined;
  /** Ends the read under way without its chunk; absent while nobody reads. */
  #giveUp: (() => void) | undefined;

  constructor(
    source: ReadableStream<Uint8Array>,
    exited: Promise<unknown>,
    options: AfterExitOptions,
  ) {
    this.#reader = source.getReader();
    this.#options = options;
    const onExit = (): void => {
      this.#exited = true;
      if (this.#giveUp !== undefined) this.#arm(this.#giveUp);
    };
    void exited.then(onExit, onExit);
  }

  pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = (): boolean => {
        if (this.#giveUp !== giveUp) return false;
        this.#giveUp = undefined;
        this.#timer?.cancel();
        return true;
      };
      const giveUp = (): void => {
        if (!stop()) return;
        this.#cut("idle", controller);
        resolve();
      };
      this.#giveUp = giveUp;
      if (this.#exited) this.#arm(giveUp);
      this.#reader.read().then(
        (result) => {
          if (!stop()) return;
          if (result.done) controller.close();
          else this.#pass(result.value, controller);
          resolve();
        },
        (error: unknown) => {
          if (stop()) reject(error);
        },
      );
    });
  }

  cancel(reason: unknown): Promise<void> {
    this.#giveUp = undefined;
    this.#timer?.cancel();
    return this.#reader.cancel(reason);
  }

  #arm(giveUp: () => void): void {
    this.#timer = this.#options.clock.setTimer(giveUp, this.#options.grace);
  }

  #pass(chunk: Uint8Array, controller: ReadableStreamDefaultController<Uint8Array>): void {
    const room = this.#exited ? this.#options.bytes - this.#passed : chunk.length;
    const passed = chunk.length > room ? chunk.subarray(0, room) : chunk;
    if (this.#exited) this.#passed += passed.length;
    if (passed.length > 0) controller.enqueue(passed);
    if (passed.length < chunk.length) this.#cut("bytes", controller);
  }

  #cut(reason: PipeCut["reason"], controller: ReadableStreamDefaultController<Uint8Array>): void {
    controller.close();
    // The cut stands, whatever the source answers.
    this.#reader.cancel().catch(() => undefined);
    this.#options.onCut?.({ reason, bytes: this.#passed });
  }
}
