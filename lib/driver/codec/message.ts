import type { RpcMessage } from "../../rpc/message.ts";
import type { RpcError } from "../contract/rpc-error.ts";

/** One control message of driver protocol v1; the parsed JSON as it came, for typed reading and re-encoding. */
export interface Message extends RpcMessage {
  readonly error?: RpcError;
}
