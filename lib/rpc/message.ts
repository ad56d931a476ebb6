import type { JsonValue } from "../json/value.ts";

/** The only envelope version of JSON-RPC 2.0. */
export const JSON_RPC_VERSION = "2.0";

/** An id of a request; a string or a whole number within ±(2^53−1). */
export type RpcId = string | number;

/** The error member of a failed response. */
export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue;
}

/** One JSON-RPC 2.0 message of any kind; {@link messageKind} tells which. */
export interface RpcMessage {
  readonly jsonrpc: string;
  readonly id?: RpcId | null;
  readonly method?: string;
  readonly params?: JsonValue;
  readonly result?: JsonValue;
  readonly error?: RpcErrorObject;
}

/** The kinds of message. */
export const MessageKind = {
  Invalid: "invalid",
  Request: "request",
  Notification: "notification",
  Response: "response",
} as const;
/** One of the kinds of message. */
export type MessageKind = (typeof MessageKind)[keyof typeof MessageKind];

/** Tells a message's kind by which members it has; `invalid` when the mix fits none. */
export function messageKind(message: RpcMessage): MessageKind {
  const hasId = message.id !== undefined;
  const hasResult = message.result !== undefined;
  const hasError = message.error !== undefined;
  if (message.method !== undefined) {
    if (hasResult || hasError) return MessageKind.Invalid;
    return hasId ? MessageKind.Request : MessageKind.Notification;
  }
  return hasId && hasResult !== hasError && message.params === undefined
    ? MessageKind.Response
    : MessageKind.Invalid;
}
