import type { Duplex } from "node:stream";
import type { ByteDuplex } from "../../lib/streams/duplex.ts";
import { bridgeReadable } from "./node-readable.ts";
import { bridgeWritable } from "./node-writable.ts";

export { bridgeReadable } from "./node-readable.ts";
export { bridgeWritable } from "./node-writable.ts";

/**
 * Bytes of a channel that are read before the pipes beside it are looked at: what comes on a driver's
 * stdout before the data of a stream must be seen before much of that data is.
 */
const TURN_BYTES = 128 * 1024;

/**
 * Bridges a Node socket to a byte channel whose halves end on their own.
 *
 * Cancelling `readable` stops reading and leaves `writable` alone; the socket is destroyed once both
 * halves are done. Aborting `writable` destroys it at once.
 */
export function bridgeDuplex(socket: Duplex): ByteDuplex {
  socket.allowHalfOpen = true;
  const { readable } = bridgeReadable(socket, {
    turnBytes: TURN_BYTES,
    onCancel: () => {
      if (socket.writableFinished || socket.destroyed) socket.destroy();
      else socket.once("finish", () => socket.destroy());
    },
  });
  return { readable, writable: bridgeWritable(socket).writable };
}
