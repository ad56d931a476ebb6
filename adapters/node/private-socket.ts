import { Buffer } from "node:buffer";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import type { Server } from "node:net";
import { join } from "node:path";
import { ignoreLateError } from "./pipe-fault.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Longest path of a Unix socket that every system takes, in bytes. */
const MAX_PATH = 103;

/** A socket that only this user can reach. */
export interface PrivateSocket {
  readonly path: string;
  /** Listens no more and removes the socket and its folder; open connections stay. */
  close(): void;
}

/**
 * Has a server listen on a Unix socket of mode 0600 in a folder of mode 0700 of its own.
 *
 * Nothing is left when it rejects.
 *
 * @throws {RangeError} When the path of temporary files is too long for a socket.
 */
export async function listenPrivately(server: Server, name: string): Promise<PrivateSocket> {
  const folder = temporaryFolder();
  const path = join(folder.path, name);
  const close = (): void => {
    server.close();
    folder.remove();
  };
  // Stays attached: a connection that cannot be accepted must not end the host.
  server.on("error", ignoreLateError);
  try {
    if (Buffer.byteLength(path) > MAX_PATH) {
      throw new RangeError(
        `The path of the socket has over ${MAX_PATH} bytes: set TMPDIR to a shorter one`,
      );
    }
    server.listen({ path });
    await once(server, "listening");
    chmodSync(path, 0o600);
    return { path, close };
  } catch (error) {
    close();
    throw error;
  }
}
