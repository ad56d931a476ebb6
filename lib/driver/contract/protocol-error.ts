import { isSluiceError, SluiceError, type SluiceErrorOptions } from "../../errors.ts";
import { ErrorClass } from "./error-class.ts";

/** Options of a {@link ProtocolError}. */
export interface ProtocolErrorOptions extends SluiceErrorOptions {
  /** What exactly went wrong; default: the class. */
  readonly code?: string | undefined;
}

/**
 * A failure with a class of the protocol's taxonomy.
 *
 * `class` is what goes on the wire, `code` says more precisely what happened (such as
 * `control_frame_too_large` or `duplicate_key`), `cause` is what led to it.
 */
export class ProtocolError extends SluiceError {
  readonly class: ErrorClass;

  static {
    Object.defineProperty(this.prototype, "name", {
      value: "ProtocolError",
      configurable: true,
      writable: true,
    });
  }

  constructor(errorClass: ErrorClass, message: string, options: ProtocolErrorOptions = {}) {
    super(options.code ?? errorClass, message, options);
    this.class = errorClass;
  }
}

/** How far a chain of causes is followed. */
const MAX_CAUSES = 16;

/**
 * The class of the outermost protocol error in a chain of causes.
 *
 * @returns Undefined when there is none.
 */
export function errorClassOf(error: unknown): ErrorClass | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && isSluiceError(current); depth++) {
    const found = (current as { readonly class?: unknown }).class;
    if (isErrorClass(found)) return found;
    current = current.cause;
  }
  return undefined;
}

/** Tells whether a value is one of the ten classes. */
export function isErrorClass(value: unknown): value is ErrorClass {
  return (Object.values(ErrorClass) as unknown[]).includes(value);
}

/** Wraps an error with a class; a code it already has stays visible. */
export function protocolError(
  errorClass: ErrorClass,
  cause: unknown,
  where?: string,
): ProtocolError {
  const problem = cause instanceof Error ? cause.message : String(cause);
  return new ProtocolError(errorClass, where === undefined ? problem : `${where}: ${problem}`, {
    cause,
    code: isSluiceError(cause) ? cause.code : undefined,
    data: isSluiceError(cause) ? cause.data : undefined,
  });
}
