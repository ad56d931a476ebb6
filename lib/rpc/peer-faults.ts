import { SluiceError } from "../errors.ts";
import type { RpcMessage } from "./message.ts";
import type { PendingTable } from "./pending-table.ts";

/** Most characters of an id in a message. */
const MAX_ID = 64;

/** A message whose members fit no kind; codecs refuse it before, unless hand-made. */
export function invalidMessage(): SluiceError {
  return new SluiceError(
    "invalid_message",
    "The peer sent a message that is neither request, notification nor response",
  );
}

/** A response that answers no call of this side. */
export function unknownResponse(id: RpcMessage["id"]): SluiceError {
  const shown = JSON.stringify(id)?.slice(0, MAX_ID);
  return new SluiceError(
    "unknown_response",
    `The peer answered a call that was never made or already answered; its id is the ${typeof id} ${shown}`,
    { data: { id: typeof id === "string" ? id.slice(0, MAX_ID) : id } },
  );
}

/** The end of a connection, with the methods of the calls that it leaves without an answer. */
export function connectionClosed(
  what: string,
  pending: PendingTable,
  cause?: unknown,
): SluiceError {
  const waiting = pending.size;
  const methods = pending.outstanding();
  const calls = waiting === 1 ? "1 call" : `${waiting} calls`;
  const message = waiting === 0 ? what : `${what} while ${calls} waited: ${methods}`;
  return new SluiceError("connection_closed", message, { data: { waiting, methods }, cause });
}
