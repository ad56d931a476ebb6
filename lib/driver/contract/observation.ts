import type { JsonValue } from "../../json/value.ts";
import { anything, type Infer, optional, record, text } from "../../schema/schema.ts";
import { InstanceId, nanoseconds, uint53 } from "./shared.ts";

/** Names a stream of the companion channel. */
export const CompanionStreamRef = record({ stream_id: text({ minLength: 1 }) });
/** Names a stream of the companion channel. */
export type CompanionStreamRef = Infer<typeof CompanionStreamRef>;

/** Params of `driver.observation`; a payload (null is one) and a data stream exclude each other. */
export const ObservationParams = record(
  {
    invocation_id: InstanceId,
    attempt_id: InstanceId,
    sequence: uint53,
    kind: text({ minLength: 1 }),
    monotonic_ns: nanoseconds,
    payload: optional(anything<JsonValue>()),
    data_stream: optional(CompanionStreamRef),
  },
  { not: { required: ["payload", "data_stream"] } },
);
/** Params of `driver.observation`. */
export type ObservationParams = Infer<typeof ObservationParams>;
