import type { JsonValue } from "../json/value.ts";
import { JSON_RPC_VERSION } from "./message.ts";
import type { RpcId, RpcMessage } from "./message.ts";
import type { RpcOutcome } from "./peer-options.ts";

/** Builds a request, or a notification when there is no id; the codec checks the members. */
export function messageOf(method: string, params: unknown, id?: RpcId): RpcMessage {
  return {
    jsonrpc: JSON_RPC_VERSION,
    ...(id === undefined ? {} : { id }),
    method,
    ...(params === undefined ? {} : { params: params as JsonValue }),
  };
}

/** Builds the response to a request. */
export function responseOf(id: RpcId, outcome: RpcOutcome): RpcMessage {
  return "error" in outcome
    ? { jsonrpc: JSON_RPC_VERSION, id, error: outcome.error }
    : { jsonrpc: JSON_RPC_VERSION, id, result: outcome.result };
}
