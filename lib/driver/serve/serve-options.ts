import type { Clock } from "../../clock.ts";
import type { Sha256 } from "../../json/digest.ts";
import type { JsonValue } from "../../json/value.ts";
import type { LimitOptions } from "../../limits.ts";
import type { ByteDuplex } from "../../streams/duplex.ts";
import type { ByteSource } from "../companion/mod.ts";
import type { Capabilities } from "../contract/capabilities.ts";
import type { TerminalStatus } from "../contract/completed.ts";
import type { DriverIdentity } from "../contract/identity.ts";
import type { ExactInputHandle } from "../contract/invoke.ts";
import type { PrepareParams } from "../contract/prepare.ts";
import type { VersionRange } from "../contract/shared.ts";
import type { SelectVersion } from "../versions.ts";

/** What an observation carries beside its kind. */
export interface ObserveOptions {
  /** Any value that JSON can carry. */
  readonly payload?: JsonValue | undefined;
  /**
   * Bytes, or a source of chunks, that go over the companion channel; not beside a payload. The source
   * is read only as the host takes it, and its chunks must not be changed once they were given.
   */
  readonly data?: ByteSource | undefined;
}

/** A companion channel as the driver's side opened it. */
export interface ServedCompanion {
  readonly duplex: ByteDuplex;
  /** What the host gave to prove it by. */
  readonly token?: string | undefined;
}

/** An invocation, as its handler sees it. */
export interface Invocation {
  readonly operation: string;
  readonly invocationId: string;
  readonly attemptId: string;
  /** Where the exact input is, as the host named it. */
  readonly inputHandle: ExactInputHandle;
  /** The exact input; opened when first read. */
  readonly input: ReadableStream<Uint8Array>;
  /** What the host granted and this driver accepted. */
  readonly permissions: readonly string[];
  /** Aborts when the host cancels the invocation, or has gone. */
  readonly signal: AbortSignal;
  /**
   * Reports an observation; awaiting it is the backpressure. With `data` it resolves once the stream has
   * ended: sent whole, or stopped because the host does not want the rest. Streams may be sent side by side.
   *
   * @throws {ProtocolError} `invalid_request` for a payload that JSON cannot carry, `budget_exceeded` for
   *   one that is too large, `malformed_observation` for an empty kind; the invocation goes on.
   * @throws {CompanionFault} `unavailable` where there is no companion channel, `stream_aborted` when the
   *   source failed (cause kept), `truncated` when the channel ended.
   * @throws {SluiceError} `invocation_ended`; `write_queue_full` when calls are not awaited; or the reason
   *   why the session ended.
   */
  readonly observe: (kind: string, options?: ObserveOptions) => Promise<void>;
}

/** What a driver serves; limits are those of `DEFAULT_LIMITS`. */
export interface ServeOptions extends LimitOptions {
  readonly identity: DriverIdentity;
  /** What is left out: no operations listed, cancellation, no retries, one invocation at a time. */
  readonly capabilities?: Partial<Capabilities> | undefined;
  /** The versions that this driver speaks. Default 1.0.0 alone. */
  readonly versions?: VersionRange | undefined;
  readonly selectVersion?: SelectVersion | undefined;
  /** The permissions that it asks the host for. Default: none. */
  readonly permissions?: readonly string[] | undefined;
  /**
   * Takes the plan; called once before the first invocation.
   *
   * @returns The permissions that it accepts of those granted. Default: all.
   */
  readonly prepare?:
    | ((plan: PrepareParams) => readonly string[] | void | Promise<readonly string[] | void>)
    | undefined;
  /**
   * Runs one invocation. What it throws ends the invocation as `errored`, or as `cancelled` once the
   * signal has aborted; the error goes to `onError`.
   *
   * @returns How it ended. Default: `completed`, or `cancelled` once the signal has aborted.
   */
  readonly invoke: (
    invocation: Invocation,
  ) => TerminalStatus | void | Promise<TerminalStatus | void>;
  /** Forgets what the driver holds. */
  readonly reset?: (() => void | Promise<void>) | undefined;
  /** Called before the driver answers `driver.shutdown`. */
  readonly shutdown?: (() => void | Promise<void>) | undefined;
  /** Told of every error of a handler; what it throws is ignored. Default of the adapters: its stack goes to stderr. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Opens an input handle; adapters give one. */
  readonly openInput?: ((handle: ExactInputHandle) => ReadableStream<Uint8Array>) | undefined;
  /** The companion channel; adapters open the one that the host offers. */
  readonly companion?: ServedCompanion | undefined;
  /** Makes the digests of data streams. Default: the adapter's own, or portable code. */
  readonly sha256?: (() => Sha256) | undefined;
  readonly clock?: Clock | undefined;
}
