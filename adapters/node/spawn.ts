import { spawn as start } from "node:child_process";
import process from "node:process";
import { mergeEnvironment } from "../../lib/process/environment.ts";
import { NodeChild } from "./node-child.ts";
import type { SpawnedChild } from "./node-child.ts";
import { spawnFailure } from "./spawn-failure.ts";

/** How {@link spawn} starts a program. */
export interface SpawnOptions {
  /** Merged over the allow-listed part of the host's environment; `undefined` takes a name away. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Names beyond the allow-list that the child inherits. Default: none. */
  readonly inheritEnv?: readonly string[] | undefined;
  /** Its working directory. Default: the host's. */
  readonly cwd?: string | undefined;
  /** Whether the child gets a two-way byte channel as descriptor 3. Default false. */
  readonly channel?: boolean | undefined;
}

/**
 * Starts a program as the leader of a process group of its own, with pipes as stdin, stdout and stderr.
 *
 * No shell is involved. While it lives, the end of the host kills its group. On Node and Bun the
 * three pipes are sockets: a program that opens `/dev/stderr` by name fails there.
 *
 * @param command The program and its arguments.
 * @returns The child, once the system has started it.
 * @throws {TypeError} When the command is empty or holds NUL, or the environment is malformed.
 * @throws {SluiceError} `spawn_failed`; `data.reason` tells a missing command, cwd, or permission.
 */
export async function spawn(
  command: readonly string[],
  options: SpawnOptions = {},
): Promise<SpawnedChild> {
  const [file, ...args] = command;
  if (file === undefined || file === "")
    throw new TypeError("The command must name a program: give [file, ...arguments]");
  if (command.some((part) => part.includes("\0")))
    throw new TypeError("The command must not hold NUL");
  const windows = process.platform === "win32";
  const env = mergeEnvironment({
    inherited: process.env,
    inherit: options.inheritEnv,
    additions: options.env,
    platform: windows ? "windows" : "posix",
  });
  try {
    return await NodeChild.started(
      start(file, args, {
        cwd: options.cwd,
        env,
        detached: !windows,
        windowsHide: true,
        stdio:
          options.channel === true ? ["pipe", "pipe", "pipe", "pipe"] : ["pipe", "pipe", "pipe"],
      }),
    );
  } catch (error) {
    throw spawnFailure(command, options.cwd, error);
  }
}
