import type { SluiceError } from "../errors.ts";
import type { MessageCodec } from "./codec.ts";
import type { FrameWriter } from "./frame-writer.ts";
import type { RpcMessage } from "./message.ts";
import type { PeerOptions } from "./peer-options.ts";

/** The way out of a peer: encode, ask for room, show to the observer, write; nothing happens before all agree. */
export class Outlet<M extends RpcMessage> {
  readonly #codec: MessageCodec<M>;
  readonly #writer: FrameWriter;
  readonly #observe: PeerOptions<M>["observe"];

  constructor(codec: MessageCodec<M>, writer: FrameWriter, observe: PeerOptions<M>["observe"]) {
    this.#codec = codec;
    this.#writer = writer;
    this.#observe = observe;
  }

  /** Whether messages are still taken. */
  get open(): boolean {
    return this.#writer.open;
  }

  /** Why nothing can be written any more; undefined while it can, or was only closed. */
  get failure(): SluiceError | undefined {
    return this.#writer.failure;
  }

  /** @throws {SluiceError} What the codec refuses. */
  encode(message: M): Uint8Array {
    return this.#codec.encode(message);
  }

  /**
   * Commits to a message: after this it must be written.
   *
   * @throws {unknown} The writer's refusal, or what the observer threw.
   */
  admit(message: M, frame: Uint8Array): void {
    const refusal = this.#writer.refusal(frame.length);
    if (refusal !== undefined) throw refusal;
    this.#observe?.(message, "out");
  }

  /** Queues an admitted frame. */
  write(frame: Uint8Array): Promise<void> {
    return this.#writer.write(frame);
  }

  /** Encodes, admits and writes; throws at once what forbids it, rejects when the write fails. */
  post(message: M): Promise<void> {
    const frame = this.encode(message);
    this.admit(message, frame);
    return this.write(frame);
  }
}
