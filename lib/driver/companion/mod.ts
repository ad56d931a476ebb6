/**
 * The companion channel `sluice.companion.v1`: byte streams beside the control pipe, with credit.
 *
 * @module
 */
export type { ByteSource } from "./byte-source.ts";
export { CompanionDriver } from "./companion-driver.ts";
export type { CompanionFaultScope, CompanionOptions } from "./companion-channel.ts";
export { CompanionFault, CompanionFaultCode, isCutOff, streamFault } from "./companion-fault.ts";
export { CompanionHost } from "./companion-host.ts";
export {
  COMPANION_PROTOCOL,
  CompanionAbort,
  CompanionCredit,
  CompanionHello,
  CompanionStop,
} from "./contract.ts";
export type { ControlBlock } from "./contract.ts";
export type { DataStream } from "./data-stream.ts";
export type { IncomingEnd, IncomingStream } from "./incoming-stream.ts";
export { companionHandle, streamOfHandle } from "./input-handle.ts";
export type { OutgoingEnd, OutgoingStream } from "./outgoing-stream.ts";
export type { InvocationIds, StreamIds } from "./stream-ids.ts";
export { unavailableStream } from "./unavailable.ts";
