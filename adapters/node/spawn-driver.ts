import type { Driver } from "../../lib/driver/session/driver.ts";
import { hostChild, type HostChildOptions } from "../../lib/driver/session/host-child.ts";
import { nodeClock } from "./node-clock.ts";
import { spawn, type SpawnOptions } from "./spawn.ts";

/** Options of {@link spawnDriver}: how to start the program, and how to host it. */
export interface SpawnDriverOptions extends SpawnOptions, HostChildOptions {}

/**
 * Starts a driver and says hello to it.
 *
 * @param command The program and its arguments; no shell is involved.
 * @returns The driver in state HELLO: call `prepare()` next, and `close()` in the end.
 * @throws {SluiceError} `spawn_failed`, `start_timeout`, `driver_exited`, `protocol_fault`; no process is left then.
 * @throws {ProtocolError} `unsupported_rpc_version`, `artifact_mismatch`, `permission_denied`, or what the driver refused.
 */
export async function spawnDriver(
  command: readonly string[],
  options: SpawnDriverOptions = {},
): Promise<Driver> {
  const child = await spawn(command, options);
  return await hostChild(child, { ...options, clock: options.clock ?? nodeClock });
}
