import type { SluiceError } from "../../errors.ts";
import { ErrorClass } from "../contract/error-class.ts";
import { ProtocolError } from "../contract/protocol-error.ts";

/** What the line splitter calls a fault, and what the protocol calls it. */
const LINE_FAULTS: { readonly [code: string]: readonly [ErrorClass, string] } = {
  empty_line: [ErrorClass.InvalidRequest, "empty_control_frame"],
  stray_carriage_return: [ErrorClass.InvalidRequest, "multiline_control_frame"],
  line_too_long: [ErrorClass.BudgetExceeded, "control_frame_too_large"],
};

/** How much of a faulty line a fault shows, in UTF-16 units. */
const EXCERPT = 200;

/**
 * Gives a fault of framing, JSON or contract its class, and the beginning of its line as `data.excerpt`.
 *
 * @param fault What a stage reported.
 * @param line The text of the line where the fault does not carry an excerpt itself.
 */
export function frameFault(fault: SluiceError, line?: string): ProtocolError {
  const data = line === undefined ? fault.data : { ...fault.data, excerpt: line.slice(0, EXCERPT) };
  if (fault instanceof ProtocolError) {
    return new ProtocolError(fault.class, fault.message, {
      code: fault.code,
      data,
      cause: fault.cause,
    });
  }
  const [errorClass, code] = LINE_FAULTS[fault.code] ?? [ErrorClass.InvalidRequest, fault.code];
  return new ProtocolError(errorClass, fault.message, { code, data, cause: fault });
}
