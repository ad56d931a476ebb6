import { type Clock, systemClock } from "../../clock.ts";
import { DEFAULT_LIMITS, type Limits, resolveLimits } from "../../limits.ts";
import type { ChildHandle } from "../../process/child-handle.ts";
import { type AfterExitOptions, boundedAfterExit } from "../../process/drain-after-exit.ts";
import { endChild } from "../../process/ladder.ts";
import { StderrTail } from "../../process/stderr-tail.ts";
import type { ByteDuplex } from "../../streams/duplex.ts";
import type { CompanionOffer } from "./companion-offer.ts";
import type { CompanionPolicy } from "./companion-plane.ts";
import type { Driver } from "./driver.ts";
import type { DriverProcess } from "./driver-process.ts";
import { HostedDriver } from "./hosted-driver.ts";
import type { OfferInput } from "./input-offer.ts";
import type { DriverOptions } from "./options.ts";

/** What an adapter offers to a driver beside its stdio. */
export interface ChildOffers {
  /** The companion channel, whose address the driver's environment names. */
  readonly companion?: CompanionOffer | undefined;
  /** Offers an input to a driver without companion channel. */
  readonly offerInput?: OfferInput | undefined;
}

/** Options of a driver that is a process of this host. */
export interface HostChildOptions extends DriverOptions {
  /** Whether there is a companion channel: where the driver has it, always, or never. Default `auto`. */
  readonly companion?: CompanionPolicy | undefined;
  /** Gets every chunk of the driver's standard error as it comes. */
  readonly onStderr?: ((chunk: Uint8Array) => void) | undefined;
}

/**
 * Hosts a driver that an adapter has started: its stdio carries the session, its end is the session's end.
 *
 * Standard error is drained whether anybody reads it or not; after the exit what the driver wrote
 * is read to its end, within `exitGrace` and `exitBytes`. When this rejects, the process has been ended.
 *
 * @throws {RangeError} When a limit is out of range.
 * @throws {SluiceError} As `connectDriver()`; `driver_exited`.
 */
export async function hostChild(
  child: ChildHandle,
  options: HostChildOptions = {},
  offers: ChildOffers = {},
): Promise<Driver> {
  const clock: Clock = options.clock ?? systemClock;
  const limits = await checkedLimits(child, { clock, options });
  const bounds = { clock, grace: limits.exitGrace, bytes: limits.exitBytes };
  const tail = new StderrTail(boundedAfterExit(child.stderr, child.exited, bounds), {
    maxBytes: limits.stderrTailBytes,
    tee: options.onStderr,
  });
  const process: DriverProcess = {
    pid: child.pid,
    exited: child.exited,
    tail,
    // The session has closed stdin by then: its lock on the stream lets nobody else do it.
    release: () => child.release(),
    end: (startAt) => endChild(child, { clock, limits, startAt, closeStdin: () => {} }),
  };
  const control = {
    readable: boundedAfterExit(child.readable, child.exited, bounds),
    writable: child.writable,
  };
  return await HostedDriver.start(
    control,
    { ...options, clock },
    {
      process,
      policy: options.companion ?? "auto",
      offer: offers.companion && boundedOffer(offers.companion, child, bounds),
      offerInput: offers.offerInput,
    },
  );
}

/** Once the child has exited its companion channel is read to its end, within the same bounds as its pipes. */
function boundedOffer(
  offer: CompanionOffer,
  child: ChildHandle,
  bounds: AfterExitOptions,
): CompanionOffer {
  const bounded = ({ readable, writable }: ByteDuplex): ByteDuplex => ({
    readable: boundedAfterExit(readable, child.exited, bounds),
    writable,
  });
  const { channel, token } = offer;
  return {
    token,
    channel: channel instanceof Promise ? channel.then(bounded) : bounded(channel),
    withdraw: () => offer.withdraw(),
  };
}

/** The child runs already, so that a wrong call must not leave it behind. */
async function checkedLimits(
  child: ChildHandle,
  { clock, options }: { clock: Clock; options: HostChildOptions },
): Promise<Limits> {
  try {
    return resolveLimits(options);
  } catch (error) {
    await endChild(child, { clock, limits: DEFAULT_LIMITS, startAt: "SIGKILL" });
    throw error;
  }
}
