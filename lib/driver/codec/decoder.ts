import type { SluiceError } from "../../errors.ts";
import type { Sink } from "../../stage/stage.ts";
import { controlFrames } from "./control-frames.ts";
import type { Message } from "./message.ts";

type Outcome = { readonly message: Message } | { readonly fault: SluiceError };

/**
 * Reads control frames from a byte stream, one at a time and only when asked.
 *
 * Memory is bounded whatever the line length: an over-long line is dropped up to its end and reported
 * once. A fault concerns exactly one line; calling again goes on with the next.
 */
export class Decoder implements AsyncIterable<Message> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #stage = controlFrames();
  readonly #sink: OutcomeSink = new OutcomeSink();
  #last: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;
  #ended = false;
  #cancelled = false;

  /** @param source The stream; it stays locked to this decoder. */
  constructor(source: ReadableStream<Uint8Array>) {
    this.#reader = source.getReader();
  }

  /**
   * Reads the next message; calls made at the same time are answered in order.
   *
   * @returns The message, or undefined at the end of the stream and ever after.
   * @throws {ProtocolError} The fault of one line; call again for the next line.
   * @throws Whatever the stream failed with; what was read of its last line is lost.
   */
  decode(): Promise<Message | undefined> {
    const next = this.#last.then(() => this.#decode());
    this.#last = next.catch(() => {});
    return next;
  }

  /** Iterates over the messages; a fault rejects that step, leaving the loop cancels the stream. */
  [Symbol.asyncIterator](): AsyncIterator<Message, undefined> {
    return {
      next: async () => {
        const value = await this.decode();
        return value === undefined ? { done: true, value } : { done: false, value };
      },
      return: async () => {
        await this.cancel();
        return { done: true, value: undefined };
      },
    };
  }

  /** Says that nothing more is wanted: the source is cancelled, and every call gives undefined. */
  async cancel(reason?: unknown): Promise<void> {
    this.#cancelled = true;
    await this.#reader.cancel(reason);
  }

  async #decode(): Promise<Message | undefined> {
    let outcome: Outcome | undefined;
    while (!this.#cancelled && (outcome = this.#sink.take()) === undefined) {
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#ended) return undefined;
      await this.#fill();
    }
    if (outcome === undefined) return undefined;
    if ("fault" in outcome) throw outcome.fault;
    return outcome.message;
  }

  async #fill(): Promise<void> {
    try {
      const { done, value } = await this.#reader.read();
      if (done) {
        this.#ended = true;
        this.#stage.end(this.#sink);
      } else this.#stage.push([value], this.#sink);
    } catch (error) {
      this.#failure = { error };
    }
  }
}

class OutcomeSink implements Sink<Message> {
  readonly open = true;
  outcomes: Outcome[] = [];
  #taken = 0;

  next(messages: readonly Message[]): void {
    for (const message of messages) this.outcomes.push({ message });
  }

  fail(fault: SluiceError): void {
    this.outcomes.push({ fault });
  }

  take(): Outcome | undefined {
    const outcome = this.outcomes[this.#taken];
    if (outcome !== undefined && ++this.#taken === this.outcomes.length) {
      this.outcomes = [];
      this.#taken = 0;
    }
    return outcome;
  }
}
