import type { ByteDuplex } from "../../streams/duplex.ts";
import type { ServeOptions } from "./serve-options.ts";
import { ServedSession } from "./served-session.ts";

/**
 * Serves a driver over a byte channel until the host shuts it down or goes away.
 *
 * @param control The control channel; both of its streams are locked from here on.
 * @returns Resolves when the session is over and its handler has returned.
 * @throws {SluiceError} The reason, when it did not end by a shutdown or by the end of the host's input.
 */
export async function serveControl(control: ByteDuplex, options: ServeOptions): Promise<void> {
  const reason = await new ServedSession(control, options).ended;
  if (reason !== undefined) throw reason;
}
