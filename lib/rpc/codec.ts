import type { Stage } from "../stage/stage.ts";
import type { RpcMessage } from "./message.ts";

/** How messages become bytes and back: framing, JSON and envelope rules of one profile. */
export interface MessageCodec<M extends RpcMessage = RpcMessage> {
  /** A fresh stage from bytes to messages; a bad frame is a fault in place and the next one follows. */
  decoder(): Stage<Uint8Array, M>;
  /**
   * One message as one complete frame, ending included.
   *
   * @throws {SluiceError} When the message breaks the profile's rules; nothing was written then.
   */
  encode(message: M): Uint8Array;
}
