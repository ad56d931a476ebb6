import { SluiceError } from "../errors.ts";
import type { RpcErrorObject } from "./message.ts";

/** What a {@link RemoteError} says beside the peer's error object. */
export interface RemoteErrorOptions {
  /** The method of the call that failed; absent when the peer named no call. */
  readonly method?: string;
  /** The code of this error. Default `remote_error`. */
  readonly code?: "remote_error" | "peer_error";
}

/** Most characters of the peer's message that the error's message repeats. */
const MAX_MESSAGE = 300;
/** Most characters of a method's name in a message. */
const MAX_METHOD = 64;

/**
 * The peer answered with an error.
 *
 * The code is `remote_error` for an answer to a call, `peer_error` for one that names no call (null id).
 * `data` holds `rpcCode`, `method` and the peer's `data`, where present.
 */
export class RemoteError extends SluiceError {
  /** The error object as it came over the wire. */
  readonly error: RpcErrorObject;

  static {
    Object.defineProperty(this.prototype, "name", {
      value: "RemoteError",
      configurable: true,
      writable: true,
    });
  }

  /**
   * @param error The error member of the response.
   * @param options The call's method, and the code.
   */
  constructor(error: RpcErrorObject, options: RemoteErrorOptions = {}) {
    const { method, code = "remote_error" } = options;
    const what =
      method === undefined ? "reported" : `answered "${method.slice(0, MAX_METHOD)}" with`;
    const text =
      error.message.length > MAX_MESSAGE
        ? `${error.message.slice(0, MAX_MESSAGE)}…`
        : error.message;
    super(code, `The peer ${what} error ${error.code}: ${text}`, {
      data: {
        rpcCode: error.code,
        ...(method === undefined ? {} : { method }),
        ...(error.data === undefined ? {} : { data: error.data }),
      },
    });
    this.error = error;
  }
}
