import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "./usage-error.ts";

/**
 * Checks that an input can be read and gives its absolute path: the driver may run elsewhere.
 *
 * @throws {UsageError} When it is missing, a directory, or not readable.
 */
export function checkInput(file: string): string {
  const path = resolve(file);
  if (kindOf("input", path, file) === "directory")
    throw wrong("input", file, "is a directory: give a file");
  try {
    accessSync(path, constants.R_OK);
  } catch {
    throw wrong("input", file, "cannot be read: check its permissions");
  }
  return path;
}

/**
 * Checks that a directory is there and gives its absolute path.
 *
 * @throws {UsageError} When it is missing or no directory.
 */
export function checkDirectory(option: string, folder: string): string {
  const path = resolve(folder);
  if (kindOf(option, path, folder) === "directory") return path;
  throw wrong(option, folder, "is not a directory: give one");
}

function kindOf(option: string, path: string, shown: string): "directory" | "other" {
  try {
    return statSync(path).isDirectory() ? "directory" : "other";
  } catch {
    throw wrong(option, shown, "does not exist or cannot be reached: check the path");
  }
}

function wrong(option: string, path: string, problem: string): UsageError {
  return new UsageError(
    `Option --${option}: ${JSON.stringify(path.slice(0, 200))} ${problem}`,
    "run",
  );
}
