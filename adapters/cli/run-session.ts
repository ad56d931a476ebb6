import { Session } from "./session.ts";
import type { SessionOutcome, SessionRequest } from "./session-types.ts";
import { type StopReason, StopSwitch } from "./stop-switch.ts";
import { Terminal, type TerminalStreams } from "./terminal.ts";

/**
 * Starts a driver, runs operations on it, shows what happens, and ends it.
 *
 * While it runs, signals that end a program stop the session, and a second one kills the driver; so
 * does an stdout that nobody reads. The driver is gone when it resolves; it never rejects because of one.
 *
 * @throws {TypeError} When the command or the environment is malformed.
 */
export async function runSession(
  request: SessionRequest,
  streams: TerminalStreams,
): Promise<SessionOutcome> {
  const stop = new StopSwitch();
  const terminal = new Terminal(streams, (error) => stop.request(unwritable(error)));
  const release = stop.listen();
  stop.stopped.addEventListener("abort", () => {
    terminal.stopWaiting();
    const notice = stop.reason?.notice;
    if (notice !== undefined) terminal.errorLine(`sluice: ${notice}`);
  });
  try {
    return await new Session(request, { stop, terminal }).run();
  } finally {
    release();
    terminal.release();
  }
}

/** A reader that has seen enough is no failure; a full disk is. */
function unwritable(error: NodeJS.ErrnoException): StopReason {
  const name = error.code ?? error.name;
  if (name === "EPIPE") return { name, exitCode: 0 };
  return { name, exitCode: 1, notice: `stdout could not be written (${name}): ending the driver` };
}
