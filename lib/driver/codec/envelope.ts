import type { JsonValue } from "../../json/value.ts";
import { JSON_RPC_VERSION, MessageKind } from "../../rpc/message.ts";
import { ErrorClass } from "../contract/error-class.ts";
import { isMethod, METHODS, type Method } from "../contract/method.ts";
import { ProtocolError, protocolError } from "../contract/protocol-error.ts";
import { RpcError } from "../contract/rpc-error.ts";
import { readRecord } from "../contract/validate.ts";
import type { Message } from "./message.ts";

const MEMBERS = new Set(["jsonrpc", "id", "method", "params", "result", "error"]);

/** Refuses anything in a frame with class `invalid_request`. */
function refuse(problem: string, code = "invalid_envelope"): ProtocolError {
  return new ProtocolError(ErrorClass.InvalidRequest, problem, { code });
}

/**
 * Checks the envelope of a parsed frame in the order of driver protocol v1 §4 and §5: member names
 * and types first, then the version, then which members may stand together.
 *
 * @returns The kind; never `invalid`.
 * @throws {ProtocolError} `unsupported_rpc_version` or `invalid_request`.
 */
export function checkEnvelope(value: JsonValue | Message | undefined): MessageKind {
  const { message, incomplete } = checkMemberTypes(value);
  if (message.jsonrpc !== JSON_RPC_VERSION) {
    throw new ProtocolError(
      ErrorClass.UnsupportedRpcVersion,
      `jsonrpc must be "2.0", got ${JSON.stringify(message.jsonrpc)?.slice(0, 60) ?? "nothing"}`,
    );
  }
  if (incomplete !== undefined) throw incomplete;
  return message.method === undefined ? checkResponse(message) : checkCall(message, message.method);
}

/** Checks names and types; an error object that lacks something is only refused after the version. */
function checkMemberTypes(value: JsonValue | Message | undefined): {
  readonly message: Message;
  readonly incomplete: ProtocolError | undefined;
} {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw refuse("Frame is not a JSON object");
  for (const name of Object.keys(value)) {
    if (!MEMBERS.has(name))
      throw refuse(`Frame has the unknown member ${JSON.stringify(name.slice(0, 60))}`);
  }
  const { jsonrpc, method, error } = value as { readonly [name: string]: unknown };
  if (jsonrpc !== undefined && jsonrpc !== null && typeof jsonrpc !== "string")
    throw refuse("jsonrpc is not a string");
  if (method !== undefined && (typeof method !== "string" || method === "")) {
    throw refuse("method is not a non-empty string");
  }
  return {
    message: value as unknown as Message,
    incomplete: error === undefined ? undefined : incompleteError(error),
  };
}

function incompleteError(error: unknown): ProtocolError | undefined {
  try {
    readRecord(RpcError, error, ErrorClass.InvalidRequest);
    return undefined;
  } catch (fault) {
    const refused = protocolError(ErrorClass.InvalidRequest, fault, "error");
    if (refused.data["missing"] !== true && refused.data["value"] !== true) throw refused;
    return refused;
  }
}

function checkCall(message: Message, method: string): MessageKind {
  if (!isMethod(method))
    throw refuse(`Method ${JSON.stringify(method.slice(0, 60))} is unknown`, "unknown_method");
  if (message.result !== undefined || message.error !== undefined) {
    throw refuse(`${method} has a result or an error beside its method`);
  }
  const { params } = message;
  if (params !== undefined && (typeof params !== "object" || params === null)) {
    throw refuse(`params of ${method} are neither an object nor a list`);
  }
  return checkCallId(message, method);
}

function checkCallId(message: Message, method: Method): MessageKind {
  if (METHODS[method].notification) {
    if (message.id !== undefined)
      throw refuse(`${method} is a notification and must not have an id`);
    return MessageKind.Notification;
  }
  checkId(message.id);
  return MessageKind.Request;
}

function checkResponse(message: Message): MessageKind {
  if (message.params !== undefined) throw refuse("params without a method");
  if ((message.result === undefined) === (message.error === undefined)) {
    throw refuse("A response needs exactly one of result and error");
  }
  checkId(message.id);
  return MessageKind.Response;
}

function checkId(id: unknown): void {
  if (typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id))) return;
  throw refuse(
    `id must be a string or a whole number within ±(2^53−1), got ${id === undefined ? "nothing" : (JSON.stringify(id) ?? typeof id).slice(0, 60)}`,
  );
}
