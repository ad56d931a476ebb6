import type { Readable } from "node:stream";
import { ignoreLateError, pipeFault } from "./pipe-fault.ts";

/** A Node stream as a web stream, and how to let go of it. */
export interface BridgedReadable {
  readonly readable: ReadableStream<Uint8Array>;
  /** Takes every listener off the Node stream; the web stream ends. */
  detach(): void;
}

/** How {@link bridgeReadable} gives a stream up. */
export interface BridgeReadableOptions {
  /** What cancelling does to the Node stream. Default: destroys it. */
  readonly onCancel?: ((stream: Readable) => void) | undefined;
  /** Whether the Node stream is left untouched, not even read ahead, until the first read. Default false. */
  readonly lazy?: boolean | undefined;
  /**
   * Bytes after which reading waits for the event loop to look at every other pipe. Default: no limit.
   * A runtime may read a fast pipe some megabytes on without looking at another one meanwhile.
   */
  readonly turnBytes?: number | undefined;
}

/**
 * Bridges a Node byte stream to a web stream that reads only when asked.
 *
 * The Node stream fills its own buffer (64 KiB and the rest of one chunk) and then leaves the bytes in
 * the kernel, so a peer that floods is stopped. Chunks are plain `Uint8Array`s that Node does not
 * reuse. Errors are coded as {@link pipeFault} says and come after everything that was read before.
 */
export function bridgeReadable(
  stream: Readable,
  options: BridgeReadableOptions = {},
): BridgedReadable {
  const source = new NodeSource(stream, options);
  if (options.lazy !== true) source.attach();
  const readable = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
  return { readable, detach: () => source.detach() };
}

/**
 * Calls back once the event loop has looked at every pipe. On Deno an immediate comes before that, so
 * that it takes a timer there, at some cost.
 */
function afterTurn(callback: () => void): void {
  if ("Deno" in globalThis) setTimeout(callback, 0);
  else setImmediate(callback);
}

class NodeSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #stream: Readable;
  readonly #onCancel: (stream: Readable) => void;
  readonly #turnBytes: number;
  #turn: Promise<void> | undefined;
  #turnRead = 0;
  #attached = false;
  #ended = false;
  #fault: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(stream: Readable, { onCancel, turnBytes }: BridgeReadableOptions) {
    this.#stream = stream;
    this.#onCancel = onCancel ?? ((node) => node.destroy());
    this.#turnBytes = turnBytes ?? Number.POSITIVE_INFINITY;
  }

  attach(): void {
    if (this.#attached) return;
    this.#attached = true;
    const stream = this.#stream;
    if (stream.readableEnded) this.#ended = true;
    if (stream.destroyed && !this.#ended)
      this.#fault = pipeFault("read", stream.errored ?? undefined);
    if (stream.closed) {
      stream.on("error", ignoreLateError);
      return;
    }
    // Held to the close: without it a child's exit would set the stream flowing and lose bytes.
    stream.on("readable", this.#notify);
    stream.on("end", this.#end);
    stream.on("error", this.#fail);
    stream.on("close", this.#close);
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.attach();
    if (this.#turnRead >= this.#turnBytes) await this.#turn;
    for (;;) {
      const chunk = this.#read();
      if (chunk !== undefined) {
        this.#count(chunk.length);
        return controller.enqueue(chunk);
      }
      if (this.#ended) return controller.close();
      if (this.#fault !== undefined) throw this.#fault;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  cancel(): void {
    this.#onCancel(this.#stream);
  }

  detach(): void {
    this.#attached = true;
    this.#drop();
    this.#end();
  }

  #drop(): void {
    this.#stream.off("readable", this.#notify);
    this.#stream.off("end", this.#end);
    this.#stream.off("error", this.#fail);
    this.#stream.off("close", this.#close);
  }

  #read(): Uint8Array | undefined {
    const chunk: unknown = this.#ended ? null : this.#stream.read();
    if (chunk === null) return undefined;
    if (chunk instanceof Uint8Array)
      return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    throw new TypeError("A byte stream must not have an encoding set");
  }

  #count(bytes: number): void {
    if (this.#turnBytes === Number.POSITIVE_INFINITY) return;
    this.#turnRead += bytes;
    this.#turn ??= new Promise((resolve) => {
      afterTurn(() => {
        this.#turn = undefined;
        this.#turnRead = 0;
        resolve();
      });
    });
  }

  readonly #notify = (): void => {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  };

  readonly #end = (): void => {
    this.#ended = true;
    this.#notify();
  };

  readonly #fail = (error: Error): void => {
    this.#fault ??= pipeFault("read", error);
    this.#notify();
  };

  readonly #close = (): void => {
    if (!this.#ended) this.#fault ??= pipeFault("read");
    this.#drop();
    this.#notify();
  };
}
