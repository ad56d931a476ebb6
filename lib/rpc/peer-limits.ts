import { checkLimit, DEFAULT_LIMITS } from "../limits.ts";
import { checkDelay } from "./check-delay.ts";
import type { PeerOptions } from "./peer-options.ts";

/** The limits of a peer, with every default filled in. */
export interface PeerLimits {
  readonly inFlight: number;
  readonly tombstones: number;
  readonly writeQueueBytes: number;
  readonly requestTimeout: number;
  readonly answerGrace: number;
}

type LimitOptions = Pick<PeerOptions, keyof PeerLimits>;

/**
 * Fills in the defaults.
 *
 * @throws {RangeError} When a count is not a whole number of at least 1, or a time is negative or not finite.
 */
export function resolvePeerLimits(options: LimitOptions): PeerLimits {
  const count = (name: "inFlight" | "tombstones" | "writeQueueBytes"): number =>
    checkLimit(name, options[name] ?? DEFAULT_LIMITS[name]);
  return {
    inFlight: count("inFlight"),
    tombstones: count("tombstones"),
    writeQueueBytes: count("writeQueueBytes"),
    requestTimeout: checkDelay(
      "requestTimeout",
      options.requestTimeout ?? DEFAULT_LIMITS.requestTimeout,
    ),
    answerGrace: checkDelay("answerGrace", options.answerGrace ?? DEFAULT_LIMITS.responseGrace),
  };
}
