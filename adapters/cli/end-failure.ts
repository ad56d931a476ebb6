import type { DriverEnd } from "../../lib/driver/session/driver.ts";
import { SluiceError } from "../../lib/errors.ts";

/** What was wrong with the way in which a driver ended; undefined when nothing was. */
export function endFailure(end: DriverEnd | undefined): SluiceError | undefined {
  if (end === undefined) return undefined;
  const { reason, exit, rungs } = end;
  if (reason.code !== "session_closed") return reason;
  if (exit === undefined || exit?.code === 0) return undefined;
  const after = `after ${rungs.join(", ") || "the session"}`;
  const how =
    exit === null
      ? "could not be ended"
      : exit.signal === null
        ? `exited with code ${exit.code}`
        : `did not end by itself but by ${exit.signal}`;
  return new SluiceError(
    "unclean_end",
    `Driver ${how} ${after}: a driver should end with code 0 once it has answered driver.shutdown or its stdin has ended`,
    { data: { exit, rungs } },
  );
}
