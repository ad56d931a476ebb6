import { randomBytes } from "node:crypto";
import process from "node:process";
import type { Clock } from "../../lib/clock.ts";
import {
  COMPANION_ENV,
  COMPANION_TOKEN_ENV,
  type CompanionOffer,
} from "../../lib/driver/session/companion-offer.ts";
import type { Driver } from "../../lib/driver/session/driver.ts";
import { hostChild, type HostChildOptions } from "../../lib/driver/session/host-child.ts";
import { SluiceError } from "../../lib/errors.ts";
import { tell } from "../../lib/driver/tell.ts";
import { resolveLimits } from "../../lib/limits.ts";
import { endChild } from "../../lib/process/ladder.ts";
import { listenForCompanion } from "./companion-listener.ts";
import type { SpawnedChild } from "./node-child.ts";
import { nodeClock } from "./node-clock.ts";
import { offerInput } from "./offer-input.ts";
import { nodeSha256 } from "./sha256.ts";
import { spawn, type SpawnOptions } from "./spawn.ts";

/** Options of {@link spawnDriver}: how to start the program, and how to host it. */
export interface SpawnDriverOptions extends Omit<SpawnOptions, "channel">, HostChildOptions {
  /**
   * How the companion channel reaches the driver: descriptor 3 (`fd`, the default), or an address that
   * it opens: use `unix` for a command in a wrapper, which may close descriptors. `unix` is not for
   * Windows, `pipe` for nothing else.
   */
  readonly companionVia?: "fd" | "unix" | "pipe" | "tcp" | undefined;
  /** Gives the start up when it aborts; once the driver has said hello it has no effect. */
  readonly signal?: AbortSignal | undefined;
  /** Told of the process as soon as it runs, before its hello. */
  readonly onSpawn?: ((child: Pick<SpawnedChild, "pid" | "exited" | "kill">) => void) | undefined;
}

/** The options with the adapter's own in the place of those left out. */
interface Hosting extends SpawnDriverOptions {
  readonly clock: Clock;
}

/**
 * Starts a driver and says hello to it.
 *
 * @param command The program and its arguments; no shell is involved.
 * @returns The driver in state HELLO: call `prepare()` next, and `close()` in the end.
 * @throws {TypeError} When the command, the environment or an option is malformed; nothing was started then.
 * @throws {RangeError} When a limit is out of range; nothing was started then.
 * @throws {SluiceError} `spawn_failed`, `start_timeout`, `driver_exited`, `protocol_fault`, `aborted`,
 *   `companion_unavailable`; no process is left then.
 * @throws {CompanionFault} `unavailable` when the driver does not open the companion channel that it lists.
 * @throws {ProtocolError} `unsupported_rpc_version`, `artifact_mismatch`, `permission_denied`,
 *   `capability_mismatch`, or what the driver refused.
 */
export async function spawnDriver(
  command: readonly string[],
  options: SpawnDriverOptions = {},
): Promise<Driver> {
  checkOptions(options);
  const hosting: Hosting = {
    ...options,
    clock: options.clock ?? nodeClock,
    sha256: options.sha256 ?? nodeSha256,
  };
  if (options.companion === "off") return await start(command, hosting, { companion: "off" });
  const token = randomBytes(24).toString("hex");
  const via = options.companionVia ?? "fd";
  if (via === "fd") return await start(command, hosting, { companion: "fd", token });
  const companion = await listenForCompanion(via, { token, clock: hosting.clock });
  try {
    return await start(command, hosting, { companion, token });
  } catch (error) {
    companion.withdraw();
    throw error;
  }
}

type Offered =
  | { readonly companion: "off" }
  | { readonly companion: "fd"; readonly token: string }
  | {
      readonly companion: CompanionOffer & { readonly address: string };
      readonly token: string;
    };

async function start(
  command: readonly string[],
  hosting: Hosting,
  offered: Offered,
): Promise<Driver> {
  const { signal, clock } = hosting;
  const isAborted = (): boolean => signal?.aborted === true;
  if (isAborted()) throw aborted(signal);
  const channel = offered.companion === "fd";
  const child = await spawn(command, { ...hosting, env: environment(hosting, offered), channel });
  tell(hosting.onSpawn, child);
  const limits = resolveLimits(hosting);
  // The session owns stdin, so the ladder begins behind that rung.
  const giveUp = (): void => void endChild(child, { clock, limits, startAt: "SIGTERM" });
  signal?.addEventListener("abort", giveUp);
  try {
    if (isAborted()) giveUp();
    const companion = companionOf(child, offered);
    const driver = await hostChild(child, hosting, { companion, offerInput });
    if (!isAborted()) return driver;
    await driver.close();
  } catch (error) {
    if (!isAborted()) throw error;
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
  throw aborted(signal);
}

function companionOf(child: SpawnedChild, offered: Offered): CompanionOffer | undefined {
  if (offered.companion === "off") return undefined;
  if (offered.companion !== "fd") return offered.companion;
  // The session closes the channel; there is nothing beyond it to take back.
  return { token: offered.token, channel: child.channel!, withdraw: () => {} };
}

function environment(
  { env }: SpawnDriverOptions,
  offered: Offered,
): Readonly<Record<string, string | undefined>> | undefined {
  if (offered.companion === "off") return env;
  const address = offered.companion === "fd" ? "fd:3" : offered.companion.address;
  return { ...env, [COMPANION_ENV]: address, [COMPANION_TOKEN_ENV]: offered.token };
}

function aborted(signal: AbortSignal | undefined): SluiceError {
  const message = "The start of the driver was aborted by its caller";
  return new SluiceError("aborted", message, { cause: signal?.reason });
}

const POLICIES: readonly unknown[] = ["auto", "required", "off", undefined];
const WAYS: readonly unknown[] = ["fd", "unix", "pipe", "tcp", undefined];

function checkOptions(options: SpawnDriverOptions): void {
  const { companion, companionVia } = options;
  if (!POLICIES.includes(companion))
    throw new TypeError("Option companion must be auto, required or off");
  if (!WAYS.includes(companionVia))
    throw new TypeError("Option companionVia must be fd, unix, pipe or tcp");
  resolveLimits(options);
  const windows = process.platform === "win32";
  if (companion === "off" || companionVia !== (windows ? "unix" : "pipe")) return;
  throw new SluiceError(
    "companion_unavailable",
    `The companion channel cannot be offered via ${companionVia} on ${process.platform}: use ${windows ? "pipe" : "unix"}`,
  );
}
