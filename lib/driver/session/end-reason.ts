import type { Clock } from "../../clock.ts";
import { SluiceError } from "../../errors.ts";
import { DriverExited } from "../../process/driver-exited.ts";
import type { DriverProcess } from "./driver-process.ts";

/** What is known when the control channel of a driver process ends by itself. */
export interface ChannelEnd {
  readonly process: DriverProcess;
  readonly clock: Clock;
  /** Milliseconds that the process may take to exit once its channel has ended. */
  readonly exitGrace: number;
  /** The methods that waited for an answer. */
  readonly inFlight: readonly string[];
  /** Which direction ended. */
  readonly ended: "read" | "write";
}

/** How long standard error may take to settle after the exit, before it is quoted. */
const STDERR_SETTLE = 100;

/**
 * Tells why the control channel of a driver process ended.
 *
 * @param reason What the channel says itself; becomes the cause.
 * @returns {@link DriverExited}, or `control_closed` when the process lives on; never rejects.
 */
export async function endReason(reason: SluiceError, end: ChannelEnd): Promise<SluiceError> {
  const { process, clock, exitGrace, inFlight } = end;
  const status = await within(process.exited, { clock, timeout: exitGrace });
  if (status === undefined) {
    const what = end.ended === "write" ? "no longer reads its stdin" : "closed its stdout";
    return new SluiceError("control_closed", `Driver ${what} without exiting; it is being ended`, {
      data: { ended: end.ended, inFlight },
      cause: reason,
    });
  }
  await process.tail.settled(clock, STDERR_SETTLE);
  return DriverExited.fromStatus(status, {
    pid: process.pid,
    tail: process.tail,
    inFlight,
    cause: reason,
  });
}

/** What a promise resolves with, or undefined when that takes longer than the timeout. */
export async function within<T>(
  promise: Promise<T>,
  { clock, timeout }: { clock: Clock; timeout: number },
): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = clock.setTimer(() => late.resolve(undefined), timeout);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    timer.cancel();
  }
}
