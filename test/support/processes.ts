import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Tells whether a process runs; a zombie does not. Linux only: reads `/proc`. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything; the state is the field after it.
    const state = stat.slice(stat.lastIndexOf(")") + 2)[0];
    return state !== "Z" && state !== "X";
  } catch {
    return false;
  }
}

/** Waits until a process is gone; false when it still runs after `timeout` milliseconds. */
export async function waitGone(pid: number, timeout = 2_000): Promise<boolean> {
  return waitFor(() => !isAlive(pid), timeout);
}

/** Waits until a condition holds; false when it does not within `timeout` milliseconds. */
export async function waitFor(condition: () => boolean, timeout = 2_000): Promise<boolean> {
  const end = Date.now() + timeout;
  while (!condition()) {
    if (Date.now() > end) return false;
    await sleep(10);
  }
  return true;
}

/** Ends a process that a test may have left; none is left when it passed. */
export function reap(pid: number | undefined): void {
  if (pid === undefined || !isAlive(pid)) return;
  process.kill(pid, "SIGKILL");
}
