import { isSluiceError } from "../../errors.ts";
import type { RpcErrorObject } from "../../rpc/message.ts";
import { ErrorClass, RPC_CODES } from "../contract/error-class.ts";
import { errorClassOf } from "../contract/protocol-error.ts";

/** Most characters of a message that go on the wire. */
const MAX_MESSAGE = 1000;

/** The error object for what a handler threw: its class where it has one, `driver_internal` otherwise; never a stack. */
export function wireError(thrown: unknown): RpcErrorObject {
  const errorClass = errorClassOf(thrown) ?? ownClass(thrown);
  const message = (
    thrown instanceof Error || isSluiceError(thrown) ? thrown.message : String(thrown)
  ).slice(0, MAX_MESSAGE);
  return {
    code: RPC_CODES[errorClass],
    message: message.toWellFormed() || errorClass,
    data: { class: errorClass },
  };
}

/** The peer itself refuses requests over its limit; all else without a class is a handler's. */
function ownClass(thrown: unknown): ErrorClass {
  return isSluiceError(thrown, "too_many_requests")
    ? ErrorClass.BudgetExceeded
    : ErrorClass.DriverInternal;
}
