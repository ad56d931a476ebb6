import { isSluiceError } from "../../errors.ts";
import { parseJson } from "../../json/parse-json.ts";
import { ErrorClass } from "../contract/error-class.ts";
import { validateControlFrameSize } from "../contract/frame-size.ts";
import { ProtocolError } from "../contract/protocol-error.ts";
import { CheckedMessage } from "./checked-message.ts";
import { frameFault } from "./frame-fault.ts";
import type { Message } from "./message.ts";

const LF = 10;
const CR = 13;
const encoder = new TextEncoder();

/**
 * Decodes one control frame: one JSON object, then LF, CRLF or nothing (driver protocol v1 §2).
 *
 * @param line The bytes of the frame, or its text.
 * @returns The message; its params are valid for its method.
 * @throws {ProtocolError} `invalid_request` with code `empty_control_frame`, `multiline_control_frame`,
 *   a code of the JSON parser or of the contract; `budget_exceeded` with code `control_frame_too_large`;
 *   `unsupported_rpc_version`; `malformed_observation`.
 */
export function decodeControlFrame(line: Uint8Array | string): Message {
  const frame = withoutEnding(typeof line === "string" ? encoder.encode(line) : line);
  if (frame.length === 0) {
    throw new ProtocolError(ErrorClass.InvalidRequest, "Control frame is empty", {
      code: "empty_control_frame",
    });
  }
  if (frame.includes(LF) || frame.includes(CR)) {
    throw new ProtocolError(ErrorClass.InvalidRequest, "Control frame has a line break inside", {
      code: "multiline_control_frame",
    });
  }
  validateControlFrameSize(frame.length);
  try {
    // The bytes of a text would hide its unpaired surrogates.
    if (typeof line === "string" && !line.isWellFormed()) parseJson(line.trimEnd());
    return CheckedMessage.of(parseJson(frame));
  } catch (error) {
    throw isSluiceError(error) ? frameFault(error) : error;
  }
}

/** Drops one LF, and one CR before it; a CR alone is no ending. */
function withoutEnding(line: Uint8Array): Uint8Array {
  if (line.at(-1) !== LF) return line;
  return line.subarray(0, line.at(-2) === CR ? -2 : -1);
}
