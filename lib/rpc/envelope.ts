import { SluiceError } from "../errors.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import { JSON_RPC_VERSION, MessageKind, messageKind } from "./message.ts";
import type { RpcMessage } from "./message.ts";

/**
 * Checks the envelope of one JSON-RPC 2.0 message; members it does not know are tolerated.
 *
 * An id is a string or a whole number within ±(2^53−1). It may be null in an error response alone,
 * which then names no call. Parameters are an array, an object, or null as some peers send it.
 *
 * @returns The same value.
 * @throws {SluiceError} `invalid_message`, with the rule that was broken in `data.rule`.
 */
export function checkEnvelope(value: JsonValue | RpcMessage): RpcMessage {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid("a message is an object");
  }
  const message = value as JsonObject;
  if (message["jsonrpc"] !== JSON_RPC_VERSION) throw invalid(`jsonrpc is "${JSON_RPC_VERSION}"`);
  const { method, params, error } = message;
  if (method !== undefined && typeof method !== "string") throw invalid("method is a string");
  if (params !== undefined && typeof params !== "object")
    throw invalid("params is an array or an object");
  if (error !== undefined && !isErrorObject(error)) {
    throw invalid("error is an object with a whole number as code and a string as message");
  }
  checkKind(message as unknown as RpcMessage);
  return message as unknown as RpcMessage;
}

function checkKind(message: RpcMessage): void {
  const kind = messageKind(message);
  if (kind === MessageKind.Invalid) {
    throw invalid("the members are those of a request, a notification, a result or an error");
  }
  const { id } = message;
  if (id === undefined || typeof id === "string" || Number.isSafeInteger(id)) return;
  if (id === null && message.error !== undefined) return;
  throw invalid("id is a string or a whole number within ±(2^53−1)");
}

function isErrorObject(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { code, message } = value as JsonObject;
  return Number.isSafeInteger(code) && typeof message === "string";
}

function invalid(rule: string): SluiceError {
  return new SluiceError("invalid_message", `The message breaks a rule of JSON-RPC 2.0: ${rule}`, {
    data: { rule },
  });
}
