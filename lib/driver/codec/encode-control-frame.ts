import { isSluiceError } from "../../errors.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import { parseJson } from "../../json/parse-json.ts";
import { RawJson } from "../../json/raw-json.ts";
import type { JsonValue } from "../../json/value.ts";
import { ErrorClass } from "../contract/error-class.ts";
import type { ErrorData, RpcError } from "../contract/rpc-error.ts";
import { validateControlFrameSize } from "../contract/frame-size.ts";
import { protocolError } from "../contract/protocol-error.ts";
import { CheckedMessage } from "./checked-message.ts";
import type { Message } from "./message.ts";

/** A message to encode: its free-form parts may be JSON texts, which are parsed strictly. */
export interface MessageInput extends Omit<Message, "id" | "params" | "result" | "error"> {
  readonly id?: Message["id"] | RawJson;
  readonly params?: JsonValue | object | RawJson;
  readonly result?: JsonValue | object | RawJson;
  readonly error?: Omit<RpcError, "data"> & {
    readonly data: Omit<ErrorData, "details"> & { readonly details?: JsonValue | RawJson };
  };
}

const encoder = new TextEncoder();

/**
 * Encodes a message as one control frame: canonical JSON (RFC 8785), then exactly one LF.
 *
 * @throws {ProtocolError} The class that decoding the frame would give; also `invalid_request` for a
 *   value that JSON cannot carry (code `unencodable`), and `budget_exceeded` with code
 *   `control_frame_too_large` when the canonical text has more than 1 MiB.
 */
export function encodeControlFrame(message: MessageInput): Uint8Array {
  const frame = encoder.encode(`${canonicalText(checked(message))}\n`);
  validateControlFrameSize(frame.length - 1);
  return frame;
}

function canonicalText({ jsonrpc, id, method, params, result, error }: CheckedMessage): string {
  try {
    return canonicalJson({ error, id, jsonrpc, method, params, result });
  } catch (unencodable) {
    throw protocolError(ErrorClass.InvalidRequest, unencodable);
  }
}

function checked(message: MessageInput): CheckedMessage {
  if (message instanceof CheckedMessage) return message;
  try {
    return CheckedMessage.of(resolved(message) as Message);
  } catch (error) {
    throw isSluiceError(error) && !("class" in error)
      ? protocolError(ErrorClass.InvalidRequest, error)
      : error;
  }
}

/** Parses the JSON texts of a message; what JavaScript values mean in JSON is the canonical text's to say. */
function resolved(message: MessageInput): object {
  const { id, params, result, error } = message;
  return {
    ...message,
    ...(id instanceof RawJson && { id: parseJson(id.text) }),
    ...(params instanceof RawJson && { params: parseRaw(params) }),
    ...(result instanceof RawJson && { result: parseRaw(result) }),
    ...(error?.data?.details instanceof RawJson && {
      error: { ...error, data: { ...error.data, details: parseRaw(error.data.details) } },
    }),
  };
}

function parseRaw({ text }: RawJson): JsonValue {
  return parseJson(trimmed(text));
}

const BLANKS = " \t\n\r";

/** Blanks around a value mean nothing; the parser refuses them around numbers and literals. */
function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && BLANKS.includes(text[start]!)) start += 1;
  while (end > start && BLANKS.includes(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}
