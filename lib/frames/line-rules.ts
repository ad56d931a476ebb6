import { checkLimit, DEFAULT_LIMITS } from "../limits.ts";

/** What `lines()` refuses and what it lets through. */
export interface LinesOptions {
  /** Most bytes of a line without its ending. Default 1 MiB (`controlFrameBytes`). */
  readonly maxBytes?: number | undefined;
  /** A line of zero bytes: an empty text, the fault `empty_line`, or nothing. Default "emit". */
  readonly empty?: "emit" | "fault" | "skip" | undefined;
  /** A CR that is not part of a CRLF: stays in the text, or the fault `stray_carriage_return`. Default "keep". */
  readonly carriageReturn?: "keep" | "fault" | undefined;
  /** Bytes after the last LF: a line like others, or the fault `truncated_line`. Default "emit". */
  readonly lastLine?: "emit" | "fault" | undefined;
}

/** {@link LinesOptions} with every default filled in. */
export interface LineRules {
  readonly maxBytes: number;
  readonly empty: "emit" | "fault" | "skip";
  readonly carriageReturn: "keep" | "fault";
  readonly lastLine: "emit" | "fault";
}

/**
 * Fills in the defaults.
 *
 * @throws {RangeError} When `maxBytes` is not a whole number from 1 to 2^53−3, so that the ending fits.
 * @throws {TypeError} When a mode is not one of its words.
 */
export function resolveLineRules(options: LinesOptions): LineRules {
  return {
    maxBytes: checkLimit(
      "maxBytes",
      options.maxBytes ?? DEFAULT_LIMITS.controlFrameBytes,
      Number.MAX_SAFE_INTEGER - 2,
    ),
    empty: oneOf("empty", options.empty ?? "emit", ["emit", "fault", "skip"]),
    carriageReturn: oneOf("carriageReturn", options.carriageReturn ?? "keep", ["keep", "fault"]),
    lastLine: oneOf("lastLine", options.lastLine ?? "emit", ["emit", "fault"]),
  };
}

function oneOf<W extends string>(name: string, value: W, words: readonly W[]): W {
  if (words.includes(value)) return value;
  throw new TypeError(`${name} must be one of ${words.join(", ")}, got ${value}`);
}
