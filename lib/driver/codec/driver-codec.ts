import type { MessageCodec } from "../../rpc/codec.ts";
import { controlFrames } from "./control-frames.ts";
import { encodeControlFrame, type MessageInput } from "./encode-control-frame.ts";

/** The codec of profile `driver`: this protocol's strictness for a Peer. */
export const driverCodec: MessageCodec = {
  decoder: controlFrames,
  encode: (message) => encodeControlFrame(message as MessageInput),
};
