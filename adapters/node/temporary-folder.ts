import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onProcessExit } from "./exit-hook.ts";

/** A folder of mode 0700 for the time of one session. */
export interface TemporaryFolder {
  readonly path: string;
  /** Removes it with all that it holds; may be called any number of times, and never throws. */
  remove(): void;
}

/**
 * Makes a folder that only this user can enter, among the system's temporary files.
 *
 * It is also removed when the process exits or crashes before; not when a signal ends the process.
 */
export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), "sluice-"));
  const remove = (): void => {
    forget();
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Whoever took it away or locked it meanwhile: nothing of a session depends on it any more.
    }
  };
  const forget = onProcessExit(remove);
  return { path, remove };
}
