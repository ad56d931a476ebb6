import type { SluiceError } from "../errors.ts";
import type { Sink, Stage } from "../stage/stage.ts";
import { MessageKind, messageKind } from "./message.ts";
import type { RpcMessage } from "./message.ts";
import { ignore, settleReactions } from "./promises.ts";

/** Where a {@link ReadLoop} takes its bytes from and hands its messages to. */
export interface ReadPort<M> {
  readonly readable: ReadableStream<Uint8Array>;
  readonly decoder: Stage<Uint8Array, M>;
  /** Awaited before each read. */
  readonly gate?: (() => Promise<void> | undefined) | undefined;
  /** Takes a message; true when it settled a call. */
  readonly onMessage: (message: M) => boolean;
  /** Takes a fault; `last` when it is of the frame that the end of input cut. */
  readonly onFault: (fault: SluiceError, last: boolean) => void;
  /** Called once unless stopped first: the input ended, or broke with a cause. */
  readonly onEnd: (broken?: { readonly cause: unknown }) => void;
}

type Event<M> = { readonly message: M } | { readonly fault: SluiceError };

/** Larger chunks are decoded in slices, so that few messages are held at a time. */
const SLICE_BYTES = 64 * 1024;

/**
 * Reads a byte stream one chunk at a time and hands on its messages in wire order.
 *
 * After a message that settled a call, code that awaits the call runs before the next message that is
 * no response is handed on, so that notifications do not overtake responses.
 */
export class ReadLoop<M extends RpcMessage> {
  readonly #port: ReadPort<M>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #sink: Sink<M>;
  #events: Event<M>[] = [];
  #stopped = false;
  #settled = false;
  #last = false;

  constructor(port: ReadPort<M>) {
    this.#port = port;
    this.#reader = port.readable.getReader();
    const isOpen = (): boolean => !this.#stopped;
    this.#sink = {
      get open() {
        return isOpen();
      },
      next: (messages) => {
        for (const message of messages) this.#events.push({ message });
      },
      fail: (fault) => void this.#events.push({ fault }),
    };
  }

  /** Starts reading, once; nothing is handed on before the caller's present step is over. */
  start(): void {
    queueMicrotask(() => {
      this.#run().then(
        () => this.#finish(),
        (cause: unknown) => this.#finish({ cause }),
      );
    });
  }

  /** Stops: nothing is handed on any more, and the stream is cancelled. */
  stop(reason: SluiceError): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#events = [];
    this.#reader.cancel(reason).catch(ignore);
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const gate = this.#port.gate?.();
      if (gate !== undefined) await gate;
      if (this.#stopped) return;
      const { done, value } = await this.#reader.read();
      if (this.#stopped) return;
      if (done) break;
      for (let offset = 0; offset < value.length && !this.#stopped; offset += SLICE_BYTES) {
        this.#port.decoder.push([value.subarray(offset, offset + SLICE_BYTES)], this.#sink);
        await this.#handOn();
      }
    }
    this.#last = true;
    if (!this.#stopped) this.#port.decoder.end(this.#sink);
    await this.#handOn();
  }

  async #handOn(): Promise<void> {
    const events = this.#events;
    this.#events = [];
    for (const event of events) {
      if (this.#settled && !isResponse(event)) {
        this.#settled = false;
        await settleReactions();
      }
      if (this.#stopped) return;
      if ("fault" in event) this.#port.onFault(event.fault, this.#last);
      else if (this.#port.onMessage(event.message)) this.#settled = true;
    }
  }

  #finish(broken?: { readonly cause: unknown }): void {
    if (this.#stopped) return;
    this.#stopped = true;
    // Where a gate or the decoder failed, the stream itself is still open.
    if (broken !== undefined) this.#reader.cancel(broken.cause).catch(ignore);
    this.#port.onEnd(broken);
  }
}

function isResponse<M extends RpcMessage>(event: Event<M>): boolean {
  return "message" in event && messageKind(event.message) === MessageKind.Response;
}
