import { hostChild } from "../../lib/driver/session/host-child.ts";
import type { Driver } from "../../lib/driver/session/driver.ts";
import type { DriverOptions } from "../../lib/driver/session/options.ts";
import { resolveLimits } from "../../lib/limits.ts";
import { endChild } from "../../lib/process/ladder.ts";
import { nodeClock } from "../node/node-clock.ts";
import { spawn } from "../node/spawn.ts";
import type { SessionRequest } from "./session-types.ts";
import type { StopSwitch } from "./stop-switch.ts";

/** What a started driver is tied to. */
export interface StartContext extends Pick<DriverOptions, "onState" | "onEnd" | "onNoise"> {
  readonly stop: StopSwitch;
  readonly onStderr: (chunk: Uint8Array) => void;
}

/**
 * Starts a driver and says hello; unlike `spawnDriver()` the start itself can be stopped.
 *
 * @throws {SluiceError} As `spawnDriver()`; no process is left then.
 */
export async function startDriver(
  { command, env, cwd, noise, startTimeout }: SessionRequest,
  { stop, ...callbacks }: StartContext,
): Promise<Driver> {
  const child = await spawn(command, { env, cwd });
  const limits = resolveLimits({ startTimeout });
  // The session owns stdin, so the ladder begins behind that rung.
  const giveUp = (): void => void endChild(child, { clock: nodeClock, limits, startAt: "SIGTERM" });
  const kill = (): void => void child.kill("SIGKILL");
  stop.stopped.addEventListener("abort", giveUp);
  stop.killed.addEventListener("abort", kill);
  void child.exited.then(() => stop.killed.removeEventListener("abort", kill));
  try {
    if (stop.stopped.aborted) giveUp();
    return await hostChild(child, { ...callbacks, noise, startTimeout, clock: nodeClock });
  } finally {
    stop.stopped.removeEventListener("abort", giveUp);
  }
}
