import process from "node:process";
import type { DriverIdentity } from "../../lib/driver/contract/identity.ts";
import { serveControl } from "../../lib/driver/serve/serve-driver.ts";
import type { ServeOptions } from "../../lib/driver/serve/serve-options.ts";
import { openInput } from "./files.ts";
import { nodeClock } from "./node-clock.ts";
import { openCompanion, takeCompanionAddress } from "./open-companion.ts";
import { nodeSha256 } from "./sha256.ts";
import { stdio } from "./stdio.ts";

type RuntimeMembers = "runtime_name" | "runtime_version" | "os" | "architecture";

/** What a driver on this process's stdio serves. */
export interface ServeDriverOptions extends Omit<ServeOptions, "identity"> {
  /** What names the runtime and the machine is filled in where it is left out. */
  readonly identity: Omit<DriverIdentity, RuntimeMembers> &
    Partial<Pick<DriverIdentity, RuntimeMembers>>;
  /**
   * Whether the process ends when the session is over, with code 0, or 1 and the reason on stderr.
   * Default true: a driver without its host must not live on because of a timer or a socket.
   */
  readonly exit?: boolean | undefined;
}

/**
 * Serves a driver on this process's stdin and stdout, and on the companion channel that the host
 * offers, until the host shuts it down or goes away.
 *
 * While it serves, `console.*` and plain writes to stdout go to stderr. What was sent has been handed
 * to the system when it resolves, or when the process ends.
 *
 * @throws {SluiceError} With `exit: false`: the reason, when the session did not end by a shutdown or
 *   by the end of the host's input. `stdio_in_use` when stdio is held already.
 */
export async function serveDriver(options: ServeDriverOptions): Promise<void> {
  // First of all: from here on no child of this process inherits them.
  const address = takeCompanionAddress();
  const control = stdio();
  const onError = options.onError ?? report;
  try {
    const companion = options.companion ?? (await openCompanion(address));
    await serveControl(control, {
      ...options,
      identity: { ...runtimeIdentity(), ...options.identity },
      openInput: options.openInput ?? openInput,
      companion,
      sha256: options.sha256 ?? nodeSha256,
      onError,
      clock: options.clock ?? nodeClock,
    });
  } catch (error) {
    if (options.exit === false) throw error;
    onError(error);
    process.exitCode = 1;
  } finally {
    control.release();
  }
  if (options.exit !== false) process.exit();
}

function runtimeIdentity(): Pick<DriverIdentity, RuntimeMembers> {
  return {
    runtime_name: "node",
    runtime_version: process.versions.node,
    os: process.platform,
    architecture: process.arch,
  };
}

function report(error: unknown): void {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
}
