import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { spawnDriver, type SpawnDriverOptions } from "../../../adapters/node/spawn-driver.ts";
import type { Driver } from "../../../lib/driver/mod.ts";
import { sameRuntime } from "../../support/runtime-name.ts";
import { waitFor } from "../../support/processes.ts";
import { PLAN } from "./frames.ts";

/** The command of a fixture in Python. */
export function python(mode: string, detail = ""): string[] {
  return [
    "python3",
    fileURLToPath(new URL("../fixtures/raw_driver.py", import.meta.url)),
    mode,
    detail,
  ];
}

/** The command of the driver on the kit, on the runtime of this test. */
export function kit(): string[] {
  return sameRuntime(fileURLToPath(new URL("../fixtures/kit-driver.ts", import.meta.url)));
}

/** The program of a host. */
export const HOST_SESSION: string = fileURLToPath(
  new URL("../fixtures/host-session.ts", import.meta.url),
);

/** A fixture that was started: it tells its process id, and what else it prints, on stderr. */
export interface Fixture {
  readonly starting: Promise<Driver>;
  /** All that it printed to stderr. */
  readonly stderr: () => string;
}

/** Short ladder, so that tests of it are short. */
export const LADDER = { shutdownTimeout: 300, stdinTimeout: 300, terminateTimeout: 300 };

/** Starts a fixture; when the test ends it must be gone. */
export function start(command: readonly string[], options: SpawnDriverOptions = {}): Fixture {
  const decoder = new TextDecoder();
  let text = "";
  const starting = spawnDriver(command, {
    ...LADDER,
    onStderr: (chunk) => void (text += decoder.decode(chunk, { stream: true })),
    ...options,
  });
  starting.catch(() => {});
  onTestFinished(async () => {
    await starting.then(
      (driver) => driver.close(),
      () => {},
    );
    const pid = Number(/^pid (\d+)$/m.exec(text)?.[1]);
    expect(pid).toBeGreaterThan(0);
    expect(await waitFor(() => !exists(pid))).toBe(true);
  });
  return { starting, stderr: () => text };
}

/** Starts a fixture up to its prepare. */
export async function prepared(
  command: readonly string[],
  options: SpawnDriverOptions = {},
): Promise<{ driver: Driver; stderr: () => string }> {
  const { starting, stderr } = start(command, options);
  const driver = await starting;
  await driver.prepare(PLAN);
  return { driver, stderr };
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
