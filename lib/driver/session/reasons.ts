import { isSluiceError, SluiceError } from "../../errors.ts";
import type { RemoteError } from "../../rpc/rpc-error.ts";
import { ErrorClass } from "../contract/error-class.ts";
import type { State } from "../machine.ts";
import { errorClassOf, isErrorClass, ProtocolError } from "../contract/protocol-error.ts";

/** The driver broke the protocol and its session ended: code `protocol_fault`. */
export class ProtocolFault extends SluiceError {
  /** The class of what it did. */
  readonly class: ErrorClass;

  static {
    Object.defineProperty(this.prototype, "name", {
      value: "ProtocolFault",
      configurable: true,
      writable: true,
    });
  }

  /** @param fault What the codec, the machine or the session refused; kept as the cause. */
  constructor(fault: SluiceError) {
    const excerpt = excerptOf(fault);
    const line = excerpt === undefined ? "" : `; the line began ${JSON.stringify(excerpt)}`;
    super("protocol_fault", `Driver broke the protocol: ${fault.message}${line}`, {
      data: { ...fault.data, fault: fault.code },
      cause: fault,
    });
    this.class = errorClassOf(fault) ?? ErrorClass.InvalidRequest;
  }
}

/** The beginning of the line that a fault of the codec is about, at most 200 characters. */
export function excerptOf(fault: SluiceError): string | undefined {
  const excerpt = fault.data["excerpt"];
  return typeof excerpt === "string" ? excerpt.slice(0, 200) : undefined;
}

/** The driver printed something to stdout that is no frame, and the session ended: code `stdout_noise`. */
export function noiseFault(fault: SluiceError): ProtocolFault {
  const excerpt = excerptOf(fault) ?? "";
  return new ProtocolFault(
    new ProtocolError(
      ErrorClass.InvalidRequest,
      `it printed ${JSON.stringify(excerpt)} to stdout, which carries frames only: print to stderr, or host it with noise: "stderr"`,
      { code: "stdout_noise", data: { line: fault.data["line"] }, cause: fault },
    ),
  );
}

/** The driver did not say hello in time: code `start_timeout`. */
export function startTimeout(timeout: number, stderr: string): SluiceError {
  const words =
    stderr === ""
      ? "and printed nothing to stderr"
      : `; its last words on stderr: ${stderr.slice(-240)}`;
  return new SluiceError(
    "start_timeout",
    `Driver did not answer driver.hello within ${timeout} ms ${words}: is it a driver, and does it read stdin?`,
    { data: { timeout, stderr } },
  );
}

/**
 * The session was closed by its host: code `session_closed`.
 *
 * @param skippedIn The state that forbade `driver.shutdown`, where one did.
 */
export function sessionClosed(skippedIn?: State): SluiceError {
  if (skippedIn === undefined)
    return new SluiceError("session_closed", "The host closed the session");
  return new SluiceError(
    "session_closed",
    `The host closed the session; driver.shutdown was skipped, which state ${skippedIn} does not allow`,
    { data: { skipped: ["shutdown"], state: skippedIn } },
  );
}

/** Turns an error response of the driver into an error with its class. */
export function refusal(error: RemoteError, method: string): ProtocolError {
  const data = error.error.data as
    | { readonly class?: unknown; readonly details?: unknown }
    | undefined;
  const errorClass = isErrorClass(data?.class) ? data.class : ErrorClass.DriverInternal;
  return new ProtocolError(
    errorClass,
    `Driver refused ${method}: ${error.error.message.slice(0, 500)}`,
    {
      data: {
        method,
        rpcCode: error.error.code,
        ...(data?.details !== undefined && { details: data.details }),
      },
      cause: error,
    },
  );
}

/** A run was given up by its caller: code `aborted`, the signal's reason as the cause. */
export function aborted(reason: unknown): SluiceError {
  return isSluiceError(reason, "aborted")
    ? reason
    : new SluiceError("aborted", "The invocation was aborted by its caller", { cause: reason });
}

/** A time limit of a run passed: code `invocation_timeout` or `idle_timeout`. */
export function timedOut(
  code: "invocation_timeout" | "idle_timeout",
  timeout: number,
): SluiceError {
  const what =
    code === "idle_timeout"
      ? "Nothing came of the invocation for"
      : "The invocation took more than";
  return new SluiceError(code, `${what} ${timeout} ms`, { data: { timeout } });
}
