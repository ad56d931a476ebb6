import { SluiceError } from "../../lib/errors.ts";

/** What a broken pipe was being used for. */
export type PipeDirection = "read" | "write";

const GONE: ReadonlySet<string> = new Set([
  "EPIPE",
  "ECONNRESET",
  "ENOTCONN",
  "ECANCELED",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_WRITE_AFTER_END",
]);

/**
 * Turns the error of a Node stream into a coded one.
 *
 * @param direction Whether bytes were read or written.
 * @param cause The stream's error; none means that it was closed before its end.
 * @returns Code `broken_pipe` when the other side is gone or the pipe was closed, else `read_failed`
 *   or `write_failed`; `data.errno` is the runtime's own code.
 */
export function pipeFault(direction: PipeDirection, cause?: unknown): SluiceError {
  const errno = errnoOf(cause);
  if (cause === undefined || (errno !== undefined && GONE.has(errno))) {
    const verb = direction === "read" ? "Reading" : "Writing";
    const message = `${verb} ended early: the other side of the pipe is gone or it was closed here`;
    return new SluiceError("broken_pipe", message, {
      cause,
      data: { direction, errno: errno ?? null },
    });
  }
  const message = `Could not ${direction} the pipe (${errno ?? "unknown error"})`;
  return new SluiceError(`${direction}_failed`, message, {
    cause,
    data: { direction, errno: errno ?? null },
  });
}

/** The runtime's own code of an error, such as `EPIPE`. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** For a stream that has closed already: a runtime may emit its error after that (Bun: a failed connect). */
export function ignoreLateError(): void {
  // The stream's state has told it before.
}
