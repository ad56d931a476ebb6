import { flag, type Infer, integer, record, text } from "../../schema/schema.ts";
import { InstanceId } from "./shared.ts";

/** Params of `driver.cancel`; the deadline is relative, in milliseconds. */
export const CancelParams = record({
  invocation_id: InstanceId,
  reason: text({ minLength: 1 }),
  deadline_millis: integer(1, Number.MAX_SAFE_INTEGER),
});
/** Params of `driver.cancel`. */
export type CancelParams = Infer<typeof CancelParams>;

/** Result of `driver.cancel`: receipt only, never an end. */
export const CancelResult = record({ acknowledged: flag() });
/** Result of `driver.cancel`: receipt only, never an end. */
export type CancelResult = Infer<typeof CancelResult>;
