import type { MessageKind } from "../../rpc/message.ts";
import { CheckedMessage } from "./checked-message.ts";
import { checkEnvelope } from "./envelope.ts";
import type { Message } from "./message.ts";

/**
 * Validates a message's envelope and tells its kind; params are not looked at.
 *
 * @throws {ProtocolError} `unsupported_rpc_version` or `invalid_request`.
 */
export function messageKind(message: Message): MessageKind {
  return message instanceof CheckedMessage
    ? CheckedMessage.kindOf(message)
    : checkEnvelope(message);
}
