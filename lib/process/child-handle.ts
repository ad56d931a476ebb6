import type { ByteDuplex } from "../streams/duplex.ts";

/** How a child ended: by itself with a code, or by a signal. */
export interface ExitStatus {
  /** The exit code, or null when a signal ended it. */
  readonly code: number | null;
  /** The signal, or null when it ended by itself. */
  readonly signal: string | null;
}

/** The signals that the ladder sends. */
export type KillSignal = "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGHUP";

/**
 * The port of a running child, which every adapter gives.
 *
 * `readable` is its stdout and `writable` its stdin: closing `writable` closes the child's stdin,
 * `readable` closes when the last holder of stdout is gone (which may be later than the exit, when
 * a grandchild inherited it). All three streams are pull-driven: nothing is read that nobody asked for.
 */
export interface ChildHandle extends ByteDuplex {
  readonly pid: number;
  readonly stderr: ReadableStream<Uint8Array>;
  /** Resolves once the child has ended and been reaped; never rejects. */
  readonly exited: Promise<ExitStatus>;
  /**
   * Sends a signal to the child's whole process group.
   *
   * @returns False when no process of the group was left to take it.
   */
  kill(signal: KillSignal): boolean;
  /** Closes what is left of the pipes, so that a grandchild that holds them holds nothing of ours. */
  release(): void;
}
