const BRAND: unique symbol = Symbol.for("sluice.error") as never;

/** What a {@link SluiceError} carries beside its code and message. */
export interface SluiceErrorOptions {
  /** Structured details, safe to log: never a secret, never an unbounded value. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/**
 * A failure at run time: a stable `code`, one sentence for people, structured `data`, and the `cause`.
 *
 * Wrong calls are `TypeError` and `RangeError` instead. Recognise it with {@link isSluiceError},
 * which also works when two copies of the package are loaded.
 */
export class SluiceError extends Error {
  /** Stable and machine-readable, such as `line_too_long`. */
  readonly code: string;
  /** Structured details; the keys depend on the code. */
  readonly data: Readonly<Record<string, unknown>>;

  static {
    // On the prototype, so that no print of an error shows it.
    Object.defineProperty(this.prototype, BRAND, { value: true });
    Object.defineProperty(this.prototype, "name", {
      value: "SluiceError",
      configurable: true,
      writable: true,
    });
  }

  /**
   * @param code Stable code, lower snake case.
   * @param message One sentence without a final period: what happened, where, what to do.
   * @param options Details and cause.
   */
  constructor(code: string, message: string, options: SluiceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data ?? {};
  }
}

/**
 * Tells whether a value is a {@link SluiceError}, of this copy of the package or another.
 *
 * @param value Anything.
 * @param code When given, the code must match too.
 */
export function isSluiceError(value: unknown, code?: string): value is SluiceError {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as { [BRAND]?: unknown })[BRAND] === true &&
    (code === undefined || (value as SluiceError).code === code)
  );
}

/** Turns anything thrown into a {@link SluiceError}, keeping it as the cause when it is not one already. */
export function toSluiceError(thrown: unknown, code: string, message: string): SluiceError {
  return isSluiceError(thrown) ? thrown : new SluiceError(code, message, { cause: thrown });
}
