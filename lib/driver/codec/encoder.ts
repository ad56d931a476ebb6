import { encodeControlFrame, type MessageInput } from "./encode-control-frame.ts";

/** Writes control frames to a byte stream, one write a frame, in the order of the calls. */
export class Encoder {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;

  /** @param target The stream; it stays locked to this encoder. */
  constructor(target: WritableStream<Uint8Array>) {
    this.#writer = target.getWriter();
  }

  /**
   * Writes one message; resolves when the stream took it, which is the backpressure.
   *
   * @throws {ProtocolError} As {@link encodeControlFrame}; nothing was written then.
   * @throws Whatever the stream fails with.
   */
  async encode(message: MessageInput): Promise<void> {
    await this.#writer.write(encodeControlFrame(message));
  }

  /** Ends the stream after what was written. */
  async close(): Promise<void> {
    await this.#writer.close();
  }
}
