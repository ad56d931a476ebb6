import type { JsonValue } from "../../json/value.ts";
import { type MessageKind, type RpcId } from "../../rpc/message.ts";
import { ErrorClass } from "../contract/error-class.ts";
import { METHODS, type Method } from "../contract/method.ts";
import { protocolError, ProtocolError } from "../contract/protocol-error.ts";
import type { RpcError } from "../contract/rpc-error.ts";
import { readRecord } from "../contract/validate.ts";
import { checkEnvelope } from "./envelope.ts";
import type { Message } from "./message.ts";

/**
 * A message that passed every rule of the codec; it keeps its kind and its typed params, so that
 * nobody behind the codec checks them again.
 */
export class CheckedMessage implements Message {
  readonly jsonrpc = "2.0" as const;
  readonly id?: RpcId;
  readonly method?: Method;
  readonly params?: JsonValue;
  readonly result?: JsonValue;
  readonly error?: RpcError;
  readonly #kind: MessageKind;
  readonly #record: object | undefined;
  readonly #size: number;

  private constructor(
    message: Message,
    checks: { kind: MessageKind; record: object | undefined; size: number },
  ) {
    if (message.id !== undefined) this.id = message.id === 0 ? 0 : (message.id as RpcId);
    if (message.method !== undefined) this.method = message.method as Method;
    if (message.params !== undefined) this.params = message.params;
    if (message.result !== undefined) this.result = message.result;
    if (message.error !== undefined) this.error = message.error;
    this.#kind = checks.kind;
    this.#record = checks.record;
    this.#size = checks.size;
  }

  /**
   * Checks envelope and params; a message that is checked already is returned as it is.
   *
   * @param value The parsed frame, or a message built by hand.
   * @param size The length of its text, where it came as one.
   * @throws {ProtocolError} Of the class that driver protocol v1 §1 gives.
   */
  static of(value: JsonValue | Message | undefined, size = 0): CheckedMessage {
    if (value instanceof CheckedMessage) return value;
    const kind = checkEnvelope(value);
    const message = value as Message;
    return new CheckedMessage(message, { kind, record: readParams(message), size });
  }

  /** The kind of the message; never `invalid`. */
  static kindOf(message: CheckedMessage): MessageKind {
    return message.#kind;
  }

  /** How long the text of the frame was, in UTF-16 units: what holding on to the message costs, about. */
  static sizeOf(message: CheckedMessage): number {
    return message.#size;
  }

  /** The typed params; undefined for a response. */
  static recordOf(message: CheckedMessage): object | undefined {
    return message.#record;
  }
}

function readParams(message: Message): object | undefined {
  if (message.method === undefined) return undefined;
  const method = message.method as Method;
  const rule = METHODS[method];
  const errorClass = rule.notification
    ? ErrorClass.MalformedObservation
    : ErrorClass.InvalidRequest;
  if (message.params === undefined) {
    if (rule.optional) return {};
    throw new ProtocolError(errorClass, `params of ${method} are missing`, {
      code: "invalid_params",
    });
  }
  try {
    return readRecord<object>(rule.params, message.params, errorClass);
  } catch (error) {
    throw protocolError(errorClass, error, `params of ${method}`);
  }
}
