import { DEFAULT_LIMITS } from "../../limits.ts";
import { ErrorClass } from "./error-class.ts";
import { ProtocolError } from "./protocol-error.ts";

/** Longest control frame in bytes, without its line ending. */
export const MAX_CONTROL_FRAME_BYTES: number = DEFAULT_LIMITS.controlFrameBytes;

/** Longest payload of a data frame in bytes, unless a lower bound was agreed. */
export const DEFAULT_MAX_DATA_FRAME_BYTES: number = DEFAULT_LIMITS.dataFrameBytes;

/**
 * Checks the size of a control frame without its line ending.
 *
 * @throws {ProtocolError} `budget_exceeded` with code `control_frame_too_large` above 1 MiB;
 *   `invalid_request` when negative or not a whole number.
 */
export function validateControlFrameSize(size: number): void {
  validateSize(size, MAX_CONTROL_FRAME_BYTES, ["control_frame_too_large", "Control frame"]);
}

/**
 * Checks the size of a data frame's payload.
 *
 * @throws {ProtocolError} `budget_exceeded` with code `data_frame_too_large` above 256 KiB;
 *   `invalid_request` when negative or not a whole number.
 */
export function validateDataFrameSize(size: number): void {
  validateSize(size, DEFAULT_MAX_DATA_FRAME_BYTES, ["data_frame_too_large", "Data frame"]);
}

function validateSize(size: number, maximum: number, [code, subject]: [string, string]): void {
  if (!Number.isSafeInteger(size) || size < 0) {
    throw new ProtocolError(
      ErrorClass.InvalidRequest,
      `${subject} size must be a whole number from 0, got ${size}`,
    );
  }
  if (size > maximum) {
    throw new ProtocolError(
      ErrorClass.BudgetExceeded,
      `${subject} has ${size} bytes, at most ${maximum} are allowed`,
      {
        code,
        data: { size, maximum },
      },
    );
  }
}
