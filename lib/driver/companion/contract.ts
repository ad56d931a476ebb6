import { DEFAULT_LIMITS } from "../../limits.ts";
import { type Infer, integer, oneOf, optional, record, text } from "../../schema/schema.ts";
import { InstanceId } from "../contract/shared.ts";

/** What a driver with a companion channel lists in `capabilities.protocols`. */
export const COMPANION_PROTOCOL = "sluice.companion.v1";

/** Most bytes that one credit block grants. */
export const MAX_CREDIT: number = 2 ** 31 - 1;

const STREAM = {
  invocation_id: InstanceId,
  attempt_id: InstanceId,
  stream_id: text({ minLength: 1 }),
};

/** The first block of each side; `window` 0 marks a side that neither gives nor obeys credit. */
export const CompanionHello = record({
  type: oneOf(["hello"]),
  protocol: oneOf([COMPANION_PROTOCOL]),
  token: optional(text()),
  max_frame_bytes: integer(1, DEFAULT_LIMITS.dataFrameBytes),
  window: integer(0, MAX_CREDIT),
});
/** The first block of each side. */
export type CompanionHello = Infer<typeof CompanionHello>;

/** Lets the other side send `bytes` more of one of its streams. */
export const CompanionCredit = record({
  type: oneOf(["credit"]),
  ...STREAM,
  bytes: integer(1, MAX_CREDIT),
});
/** Lets the other side send more of one of its streams. */
export type CompanionCredit = Infer<typeof CompanionCredit>;

/** Ends one of the sender's own streams, whose source failed. */
export const CompanionAbort = record({
  type: oneOf(["abort"]),
  ...STREAM,
  reason: text({ minLength: 1 }),
});
/** Ends one of the sender's own streams, whose source failed. */
export type CompanionAbort = Infer<typeof CompanionAbort>;

/** Says that one of the other side's streams is not wanted; that side answers with its end. */
export const CompanionStop = record({ type: oneOf(["stop"]), ...STREAM });
/** Says that one of the other side's streams is not wanted. */
export type CompanionStop = Infer<typeof CompanionStop>;

/** A block of the companion channel that carries no data. */
export type ControlBlock = CompanionHello | CompanionCredit | CompanionAbort | CompanionStop;

/** The control blocks by their type. */
export const CONTROL_BLOCKS = {
  hello: CompanionHello,
  credit: CompanionCredit,
  abort: CompanionAbort,
  stop: CompanionStop,
} as const;
