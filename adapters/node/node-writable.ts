import type { Writable } from "node:stream";
import { ignoreLateError, pipeFault } from "./pipe-fault.ts";

/** A Node stream as a web stream, and how to let go of it. */
export interface BridgedWritable {
  readonly writable: WritableStream<Uint8Array>;
  /** Takes every listener off the Node stream; further writes are rejected. */
  detach(): void;
}

/** What {@link bridgeWritable} does differently from its default. */
export interface BridgeWritableOptions {
  /** Writes one chunk and calls back when the kernel has it. Default: the stream's own `write`. */
  readonly write?: ((chunk: Uint8Array, done: (error?: Error | null) => void) => void) | undefined;
  /** Whether closing ends the Node stream. Default true. */
  readonly end?: boolean | undefined;
}

/**
 * Bridges a Node byte stream to a web stream whose `write()` resolves once the kernel has the bytes.
 *
 * One chunk is under way at a time. A peer that is gone rejects the write under way and errors the
 * stream, once, coded as {@link pipeFault} says; an idle stream errors too. The chunk must not be
 * changed before its write has settled. Closing ends the Node stream, aborting destroys it.
 */
export function bridgeWritable(
  stream: Writable,
  options: BridgeWritableOptions = {},
): BridgedWritable {
  const sink = new NodeSink(stream, options);
  const writable = new WritableStream<Uint8Array>(sink);
  return { writable, detach: () => sink.detach() };
}

class NodeSink implements UnderlyingSink<Uint8Array> {
  readonly #stream: Writable;
  readonly #write: NonNullable<BridgeWritableOptions["write"]>;
  readonly #end: boolean;
  #controller: WritableStreamDefaultController | undefined;
  #fault: Error | undefined;
  /** Rejects the write or close under way. */
  #reject: ((fault: Error) => void) | undefined;

  constructor(stream: Writable, options: BridgeWritableOptions) {
    this.#stream = stream;
    this.#write = options.write ?? ((chunk, done) => void stream.write(chunk, done));
    this.#end = options.end ?? true;
  }

  start(controller: WritableStreamDefaultController): void {
    this.#controller = controller;
    if (this.#stream.closed || this.#stream.destroyed)
      this.#fail(this.#stream.errored ?? undefined);
    if (this.#stream.closed) {
      this.#stream.on("error", ignoreLateError);
      return;
    }
    this.#stream.on("error", this.#fail);
    this.#stream.on("close", this.#close);
  }

  write(chunk: Uint8Array): Promise<void> {
    if (!(chunk instanceof Uint8Array))
      throw new TypeError("Only bytes can be written: give a Uint8Array");
    if (chunk.length === 0) return Promise.resolve();
    return this.#run((done) => this.#write(chunk, done));
  }

  close(): Promise<void> {
    if (!this.#end) return Promise.resolve();
    return this.#run((done) => void this.#stream.end(done));
  }

  abort(): void {
    if (this.#end) this.#stream.destroy();
  }

  detach(): void {
    this.#drop();
    this.#fail();
  }

  #run(action: (done: (error?: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#fault !== undefined) return reject(this.#fault);
      this.#reject = reject;
      action((error) => {
        this.#reject = undefined;
        if (error) reject((this.#fault ??= pipeFault("write", error)));
        else resolve();
      });
    });
  }

  readonly #fail = (error?: Error): void => {
    this.#fault ??= pipeFault("write", error);
    this.#reject?.(this.#fault);
    this.#reject = undefined;
    this.#controller?.error(this.#fault);
  };

  /** A runtime may drop the callback of a write when it closes the pipe; this settles it all the same. */
  readonly #close = (): void => {
    this.#drop();
    this.#fail(this.#stream.errored ?? undefined);
  };

  #drop(): void {
    this.#stream.off("error", this.#fail);
    this.#stream.off("close", this.#close);
  }
}
