import { spawnSync } from "node:child_process";
import process from "node:process";
import type { KillSignal } from "../../lib/process/child-handle.ts";
import { errnoOf } from "./pipe-fault.ts";

/**
 * The process group that a child leads, signalled only while it is surely this one.
 *
 * A process id is free for others once its process has been reaped and its group is empty. So after
 * the exit a signal goes out only while the group has members and no new process has the id, and no
 * more once SIGKILL went out. Where there are no groups (Windows), every signal ends the child and
 * its descendants.
 */
export class ProcessGroup {
  readonly #pid: number;
  readonly #onGone: () => void;
  #reaped = false;
  #gone = false;

  /** @param onGone Called once, when nothing of the group is left to signal. */
  constructor(pid: number, onGone: () => void) {
    this.#pid = pid;
    this.#onGone = onGone;
  }

  /** Says that the leader has exited and been reaped. */
  leaderExited(): void {
    this.#reaped = true;
    if (!this.#hasMembers()) this.#leave();
  }

  /** Gives the group up: it is never signalled again. */
  abandon(): void {
    this.#leave();
  }

  /** Signals every member; false when there was none to take it. */
  kill(signal: KillSignal): boolean {
    if (this.#gone) return false;
    if (this.#reaped && !this.#hasMembers()) {
      this.#leave();
      return false;
    }
    const sent =
      process.platform === "win32" ? killTree(this.#pid) : send(-this.#pid, signal) === undefined;
    if (this.#reaped && signal === "SIGKILL") this.#leave();
    return sent;
  }

  /** For a reaped leader; a process with its id is then a stranger's. */
  #hasMembers(): boolean {
    if (process.platform === "win32" || send(this.#pid, 0) !== "ESRCH") return false;
    return send(-this.#pid, 0) === undefined;
  }

  #leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#onGone();
  }
}

/** Sends a signal; gives the error's code when it was not delivered. */
function send(target: number, signal: KillSignal | 0): string | undefined {
  try {
    process.kill(target, signal);
    return undefined;
  } catch (error) {
    return errnoOf(error) ?? "unknown";
  }
}

function killTree(pid: number): boolean {
  const run = spawnSync("taskkill", ["/PID", String(pid), "/T", "/F"], {
    windowsHide: true,
    stdio: "ignore",
  });
  return run.status === 0;
}
