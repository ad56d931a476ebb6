import type { Clock } from "../../clock.ts";
import type { SluiceError } from "../../errors.ts";
import type { Sha256 } from "../../json/digest.ts";
import type { LimitOptions } from "../../limits.ts";
import type { DriverIdentity } from "../contract/identity.ts";
import type { VersionRange } from "../contract/shared.ts";
import type { State } from "../machine.ts";
import type { SelectVersion } from "../versions.ts";

/** Options of a session with a driver; limits are those of `DEFAULT_LIMITS`. What a callback throws is ignored. */
export interface DriverOptions extends LimitOptions {
  /** The versions of the driver protocol's contract that this host speaks. Default 1.0.0 alone. */
  readonly versions?: VersionRange | undefined;
  /** Picks the version in place of the rule of {@link selectVersion}. */
  readonly selectVersion?: SelectVersion | undefined;
  /** Members that the driver's identity must have; others are not looked at. */
  readonly expectIdentity?: Partial<DriverIdentity> | undefined;
  /** Whether a digest computed by the rule of `sluice.summary.v1` is checked. Default true. */
  readonly verifySummary?: boolean | undefined;
  /**
   * What a line on stdout does that is no frame: end the session (`fail`, the default), or be counted, kept
   * with the tail of standard error and handed to `onNoise` (`stderr`), up to `noiseBytes`.
   */
  readonly noise?: "fail" | "stderr" | undefined;
  /** Told of each line of noise, cut to 200 characters. */
  readonly onNoise?: ((line: string) => void) | undefined;
  /** Told of each state that the session enters. */
  readonly onState?: ((state: State) => void) | undefined;
  /** Told once when the session has ended by itself or by a fault. */
  readonly onEnd?: ((reason: SluiceError) => void) | undefined;
  /**
   * What a cancelled invocation does that the driver does not end in time: the driver is killed (the
   * default), or, where it runs several at a time, only the run fails and its place stays taken.
   */
  readonly onCancelTimeout?: "kill" | "keep" | undefined;
  /**
   * What a driver does that breaks the rules of the companion channel: the session ends (the default), or
   * goes on without the channel (`detach`).
   */
  readonly onCompanionFault?: "end" | "detach" | undefined;
  /** Makes the digests of data streams. Default: the adapter's own, or portable code. */
  readonly sha256?: (() => Sha256) | undefined;
  /** Where time comes from. Default: the adapter's clock, or web timers. */
  readonly clock?: Clock | undefined;
}
