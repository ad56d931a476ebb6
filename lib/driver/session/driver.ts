import type { SluiceError } from "../../errors.ts";
import type { ExitStatus } from "../../process/child-handle.ts";
import type { Rung } from "../../process/ladder.ts";
import type { Capabilities } from "../contract/capabilities.ts";
import type { DriverIdentity } from "../contract/identity.ts";
import type { State } from "../machine.ts";
import type { PrepareOptions } from "./handshake.ts";
import type { InvokeOptions, Run } from "./run.ts";
import type { SessionStats } from "./traffic.ts";

/** How a session, and the process behind it, ended. */
export interface DriverEnd {
  /** Why it ended; code `session_closed` after a `close()` of the host, naming a rung that was skipped. */
  readonly reason: SluiceError;
  /** How the process ended; null when it could not be ended, undefined when there is none. */
  readonly exit: ExitStatus | null | undefined;
  /** What the host did to end it, in order: `shutdown`, then the rungs of the ladder. */
  readonly rungs: readonly ("shutdown" | Rung)[];
  /** The last of what it printed to stderr. */
  readonly stderr: string;
}

/** A driver that said hello, from its host's side. */
export interface Driver extends AsyncDisposable {
  readonly identity: DriverIdentity;
  readonly capabilities: Capabilities;
  /** The version that both sides speak. */
  readonly version: string;
  /** What the driver asked for in its hello. */
  readonly requestedPermissions: readonly string[];
  /** What the driver accepted of what `prepare` granted; empty before. */
  readonly permissions: readonly string[];
  readonly state: State;
  readonly stats: SessionStats;
  /** The process id; undefined when the driver is no process of this host. */
  readonly pid: number | undefined;
  /** Resolves when the session and its process have ended, for whatever reason; never rejects. */
  readonly ended: Promise<DriverEnd>;
  /**
   * Grants a plan and permissions; from then on invocations are allowed. A failure ends the driver,
   * except where nothing was sent.
   *
   * @returns The permissions that the driver accepted.
   * @throws {ProtocolError} `permission_denied`, `invalid_state`, `invalid_request`, or the driver's refusal.
   */
  prepare(options: PrepareOptions): Promise<readonly string[]>;
  /**
   * Starts an invocation; runs that come while one is under way wait for their turn.
   * Every failure comes through the run: `capability_mismatch`, `invalid_state`, `invoke_queue_full` …
   *
   * @throws {RangeError} When a time limit is negative or not finite.
   */
  invoke(operation: string, options?: InvokeOptions): Run;
  /** Asks the driver for its capabilities again. @throws {ProtocolError} `invalid_state` while an invocation is under way. */
  refreshCapabilities(): Promise<Capabilities>;
  /** Has the driver forget what it holds; it stays prepared. @throws {ProtocolError} `invalid_state`. */
  reset(): Promise<void>;
  /**
   * Ends the driver: runs are cancelled, then `driver.shutdown`, stdin closed, SIGTERM, SIGKILL, each
   * with its deadline. May be called any number of times; never rejects.
   */
  close(): Promise<DriverEnd>;
}
