import { isSluiceError } from "../errors.ts";
import type { JsonValue } from "../json/value.ts";
import { RpcErrorCode } from "./error-codes.ts";
import type { RpcErrorObject } from "./message.ts";

/** Most characters of an error's message that go to the other side. */
const MAX_MESSAGE = 1000;

const CODES: ReadonlyMap<string, RpcErrorCode> = new Map([
  ["method_not_found", RpcErrorCode.MethodNotFound],
  ["invalid_params", RpcErrorCode.InvalidParams],
  ["too_many_requests", RpcErrorCode.TooManyRequests],
]);

/**
 * The error object that answers a request when a peer has no `errorObject` of its own.
 *
 * A peer's own refusals (`method_not_found`, `invalid_params` with the schema's issues,
 * `too_many_requests`) take their codes; all else is −32603 with the message alone, never a stack.
 *
 * @param thrown What a handler threw, or the peer's refusal.
 */
export function rpcErrorObject(thrown: unknown): RpcErrorObject {
  const code = isSluiceError(thrown) ? CODES.get(thrown.code) : undefined;
  const text = thrown instanceof Error && thrown.message !== "" ? thrown.message : "Internal error";
  const message = text.slice(0, MAX_MESSAGE).toWellFormed();
  if (code === undefined) return { code: RpcErrorCode.InternalError, message };
  const issues = isSluiceError(thrown, "invalid_params") ? thrown.data["issues"] : undefined;
  return {
    code,
    message,
    ...(issues === undefined ? {} : { data: { issues: issues as JsonValue } }),
  };
}
