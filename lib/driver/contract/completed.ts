import { type Infer, oneOf, optional, record } from "../../schema/schema.ts";
import { Digest, InstanceId, uint53 } from "./shared.ts";

/** How an invocation ends. */
export const TerminalStatus = {
  Completed: "completed",
  Cancelled: "cancelled",
  Errored: "errored",
} as const;
/** How an invocation ends. */
export type TerminalStatus = (typeof TerminalStatus)[keyof typeof TerminalStatus];

/** Params of `driver.completed`; `last_sequence` is absent exactly when nothing was observed. */
export const CompletedParams = record({
  invocation_id: InstanceId,
  attempt_id: InstanceId,
  status: oneOf(Object.values(TerminalStatus)),
  last_sequence: optional(uint53),
  summary_digest: Digest,
});
/** Params of `driver.completed`. */
export type CompletedParams = Infer<typeof CompletedParams>;
