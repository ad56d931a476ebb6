import { flag, type Infer, record, text } from "../../schema/schema.ts";
import { InstanceId, uint32, uint53 } from "./shared.ts";

/** Precedes one payload on the companion channel; `length` is the payload's, in bytes. */
export const DataFrameHeader = record({
  invocation_id: InstanceId,
  attempt_id: InstanceId,
  stream_id: text({ minLength: 1 }),
  sequence: uint53,
  length: uint32,
  final: flag(),
});
/** Precedes one payload on the companion channel. */
export type DataFrameHeader = Infer<typeof DataFrameHeader>;
