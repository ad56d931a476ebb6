/**
 * JSON-RPC 2.0: messages, codes, a codec for peers of others, and the two-way peer.
 *
 * @module
 */
export { JSON_RPC_VERSION, MessageKind, messageKind } from "./message.ts";
export type { RpcErrorObject, RpcId, RpcMessage } from "./message.ts";
export type { MessageCodec } from "./codec.ts";
export { jsonRpc } from "./jsonrpc-codec.ts";
export type { JsonRpcOptions } from "./jsonrpc-codec.ts";
export { RpcErrorCode } from "./error-codes.ts";
export { rpcErrorObject } from "./error-object.ts";
export { RemoteError } from "./rpc-error.ts";
export type { RemoteErrorOptions } from "./rpc-error.ts";
export { PendingTable } from "./pending-table.ts";
export type { PendingCall, PendingTableOptions, Settlement } from "./pending-table.ts";
export { defineMethod } from "./method.ts";
export type { Method, MethodContext, MethodTable } from "./method.ts";
export { Peer } from "./peer.ts";
export type { PeerOptions, RequestOptions, Respond, RpcOutcome } from "./peer-options.ts";
