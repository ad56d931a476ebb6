import { SluiceError } from "../errors.ts";
import type { RpcId } from "./message.ts";

/** Most characters of a method's name in a message. */
const MAX_METHOD = 64;

/** A call that got no answer in time. */
export function timeoutError(id: RpcId, method: string, timeout: number): SluiceError {
  const message = `No answer to "${cut(method)}" within ${timeout} ms; raise the timeout if the peer may take longer`;
  return new SluiceError("request_timeout", message, { data: { method, id, timeout } });
}

/** A call that its caller gave up; without an id when nothing was sent. */
export function abortedError(method: string, signal: AbortSignal, id?: RpcId): SluiceError {
  return new SluiceError("aborted", `The call of "${cut(method)}" was aborted by its signal`, {
    data: id === undefined ? { method } : { method, id },
    cause: signal.reason,
  });
}

/** A call over the limit of calls under way. */
export function tooManyRequests(method: string, limit: number): SluiceError {
  const message = `${limit} calls wait for an answer already; "${cut(method)}" was not sent, wait for one of them`;
  return new SluiceError("too_many_requests", message, { data: { method, inFlight: limit } });
}

function cut(method: string): string {
  return method.slice(0, MAX_METHOD);
}
