/**
 * Driver protocol v1: contract, codec, state machine, and both sides of a session.
 *
 * @module
 */
export { CancelParams, CancelResult } from "./contract/cancel.ts";
export { Capabilities, CapabilitiesParams, CapabilitiesResult } from "./contract/capabilities.ts";
export { CompletedParams, TerminalStatus } from "./contract/completed.ts";
export { DataFrameHeader } from "./contract/data-frame-header.ts";
export { decodeParamsStrict } from "./contract/decode-params.ts";
export { ErrorClass, RPC_CODES } from "./contract/error-class.ts";
export {
  DEFAULT_MAX_DATA_FRAME_BYTES,
  MAX_CONTROL_FRAME_BYTES,
  validateControlFrameSize,
  validateDataFrameSize,
} from "./contract/frame-size.ts";
export { HelloParams, HelloResult } from "./contract/hello.ts";
export { DriverIdentity } from "./contract/identity.ts";
export { ExactInputHandle, InvokeParams } from "./contract/invoke.ts";
export { ResetParams, ResetResult, ShutdownParams, ShutdownResult } from "./contract/lifecycle.ts";
export { Method } from "./contract/method.ts";
export { CompanionStreamRef, ObservationParams } from "./contract/observation.ts";
export { PrepareParams, PrepareResult } from "./contract/prepare.ts";
export { errorClassOf, ProtocolError } from "./contract/protocol-error.ts";
export type { ProtocolErrorOptions } from "./contract/protocol-error.ts";
export { ErrorData, RpcError } from "./contract/rpc-error.ts";
export { Digest, InstanceId, ObjectRef, Permission, VersionRange } from "./contract/shared.ts";
export {
  validateCancelParams,
  validateCompletedParams,
  validateDataFrameHeader,
  validateHelloParams,
  validateHelloResult,
  validateInvokeParams,
  validateObservationParams,
  validatePrepareParams,
  validateRpcError,
} from "./contract/validate.ts";
export { controlFrames } from "./codec/control-frames.ts";
export { decodeControlFrame } from "./codec/decode-control-frame.ts";
export { Decoder } from "./codec/decoder.ts";
export { driverCodec } from "./codec/driver-codec.ts";
export { encodeControlFrame } from "./codec/encode-control-frame.ts";
export type { MessageInput } from "./codec/encode-control-frame.ts";
export { Encoder } from "./codec/encoder.ts";
export type { Message } from "./codec/message.ts";
export { messageKind } from "./codec/message-kind.ts";
export { Machine, State } from "./machine.ts";
export type { ActiveInvocation } from "./machine.ts";
export { newInstanceId } from "./instance-id.ts";
export { serveControl } from "./serve/serve-driver.ts";
export type {
  Invocation,
  ObserveOptions,
  ServedCompanion,
  ServeOptions,
} from "./serve/serve-options.ts";
export {
  COMPANION_PROTOCOL,
  CompanionAbort,
  CompanionCredit,
  CompanionFault,
  CompanionFaultCode,
  CompanionHello,
  CompanionStop,
} from "./companion/mod.ts";
export type { ByteSource, DataStream } from "./companion/mod.ts";
export type { CompanionPolicy } from "./session/companion-plane.ts";
export type { ConnectOptions } from "./session/connect-driver.ts";
export type { InputEnd } from "./session/run.ts";
export { connectDriver } from "./session/connect-driver.ts";
export type { Driver, DriverEnd } from "./session/driver.ts";
export type { PrepareOptions } from "./session/handshake.ts";
export { hostChild } from "./session/host-child.ts";
export type { HostChildOptions } from "./session/host-child.ts";
export type { Observation } from "./session/observation.ts";
export type { DriverOptions } from "./session/options.ts";
export { ProtocolFault } from "./session/reasons.ts";
export type { Completion, InvokeOptions, Run } from "./session/run.ts";
export type { SessionStats } from "./session/traffic.ts";
export { SUMMARY_PROTOCOL } from "./summary.ts";
export { selectVersion } from "./versions.ts";
export type { SelectVersion } from "./versions.ts";
export { UsedIds } from "./used-ids.ts";
export { JSON_RPC_VERSION, MessageKind } from "../rpc/message.ts";
