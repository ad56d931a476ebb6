import { decodeUtf8Lossy } from "../bytes/utf8.ts";
import { SluiceError } from "../errors.ts";

/** Most bytes of a line that a fault shows. */
export const EXCERPT_BYTES = 200;

/** Why a line is refused, with what the message says about it. */
const REASONS = {
  empty_line: "is empty",
  stray_carriage_return: "holds a carriage return that does not belong to its ending",
  line_too_long: "is longer than allowed",
  invalid_utf8: "is not valid UTF-8",
  truncated_line: "has no line feed before the end of the input",
} as const;

/** The codes of the faults that `lines()` reports. */
export type LineFaultCode = keyof typeof REASONS;

/** Where a refused line is and how it begins. */
export interface LinePlace {
  /** Index of the line, from 0; refused and skipped lines count too. */
  readonly line: number;
  /** Index in the stream of the first byte of the line. */
  readonly offset: number;
  /** The line, or as much of it as there is for the excerpt. */
  readonly bytes: Uint8Array;
  /** More data for the code. */
  readonly more?: Readonly<Record<string, number>>;
}

/** Builds the fault of one line. */
export function lineFault(code: LineFaultCode, place: LinePlace): SluiceError {
  const { line, offset, bytes, more } = place;
  const limit = more?.["maxBytes"] === undefined ? "" : ` (${more["maxBytes"]} bytes)`;
  const message = `Line ${line} at byte ${offset} ${REASONS[code]}${limit}`;
  const excerpt = decodeUtf8Lossy(bytes.subarray(0, EXCERPT_BYTES));
  return new SluiceError(code, message, { data: { line, offset, excerpt, ...more } });
}
