import { CompanionFaultCode, type CompanionFault, streamFault } from "./companion-fault.ts";
import { CreditFlow } from "./flow.ts";
import { type IncomingStream, ReceivedStream } from "./incoming-stream.ts";
import type { StreamIds } from "./stream-ids.ts";

/**
 * The fault of a stream for which there is no channel.
 *
 * @param cause Why the channel has ended; absent where there never was one.
 */
export function unavailable(ids: StreamIds, cause?: unknown): CompanionFault {
  const problem =
    cause === undefined
      ? "cannot be read: the driver has no companion channel"
      : "cannot be read: the companion channel had ended before it was announced";
  return streamFault(CompanionFaultCode.Unavailable, ids, { problem, cause });
}

/** A stream of a driver that has no companion channel: it has ended, and reads reject with `unavailable`. */
export function unavailableStream(ids: StreamIds): IncomingStream {
  const stream = new ReceivedStream(ids, {
    flow: new CreditFlow(1),
    hash: undefined,
    grant: () => {},
    stop: () => {},
    changed: () => {},
    nextEnd: () => 0,
  });
  stream.announced = true;
  stream.lost(unavailable(ids));
  return stream;
}
