import { statSync } from "node:fs";
import { resolve } from "node:path";
import { SluiceError } from "../../lib/errors.ts";
import { errnoOf } from "./pipe-fault.ts";

/** Why a program could not be started. */
export type SpawnFailureReason =
  | "cwd_missing"
  | "cwd_not_directory"
  | "command_not_found"
  | "interpreter_not_found"
  | "not_executable"
  | "resources"
  | "unknown";

const ADVICE: Readonly<Record<SpawnFailureReason, string>> = {
  cwd_missing: "its working directory does not exist: create it or give another cwd",
  cwd_not_directory: "its working directory is not a directory: give another cwd",
  command_not_found: "the command was not found: check its spelling and the PATH of the child",
  interpreter_not_found: "the file exists but its interpreter was not found: check its first line",
  not_executable:
    "the file may not be executed: check its permissions, its format and those of its folders",
  resources: "the system is out of processes, files or memory: end some and try again",
  unknown: "the system refused",
};

/**
 * Builds the error of a program that did not start: code `spawn_failed`.
 *
 * `data` holds `reason`, `errno`, `command` (cut to 200 characters) and `cwd`; never the environment.
 */
export function spawnFailure(
  command: readonly string[],
  cwd: string | undefined,
  cause: unknown,
): SluiceError {
  const errno = errnoOf(cause) ?? null;
  const reason = reasonOf(errno, command[0] ?? "", cwd);
  const shown = command.join(" ").slice(0, 200);
  const message = `Could not start ${JSON.stringify(shown)}: ${ADVICE[reason]} (${errno ?? "no error code"})`;
  return new SluiceError("spawn_failed", message, {
    cause,
    data: { reason, errno, command: shown, cwd: cwd ?? null },
  });
}

/** Systems report a missing cwd and a missing interpreter as a missing command: look which it is. */
function reasonOf(errno: string | null, file: string, cwd: string | undefined): SpawnFailureReason {
  const folder = cwd === undefined ? "directory" : kindOf(cwd);
  if (folder === "missing") return "cwd_missing";
  if (folder === "file") return "cwd_not_directory";
  switch (errno) {
    case "ENOENT":
      return /[/\\]/.test(file) && kindOf(resolve(cwd ?? ".", file)) === "file"
        ? "interpreter_not_found"
        : "command_not_found";
    case "EACCES":
    case "EPERM":
    case "ENOEXEC":
      return "not_executable";
    case "EAGAIN":
    case "EMFILE":
    case "ENFILE":
    case "ENOMEM":
      return "resources";
    default:
      return "unknown";
  }
}

function kindOf(path: string): "missing" | "file" | "directory" | "unknown" {
  try {
    return statSync(path).isDirectory() ? "directory" : "file";
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? "missing" : "unknown";
  }
}
