import * as driver from "../../lib/driver/mod.ts";
import type { Schema } from "../../lib/schema/schema.ts";
import { checkRecord } from "../../lib/schema/check-record.ts";

/** The records that the params vectors name. */
export const RECORDS: { readonly [type: string]: Schema<unknown> } = {
  HelloParams: driver.HelloParams,
  HelloResult: driver.HelloResult,
  Capabilities: driver.Capabilities,
  CapabilitiesParams: driver.CapabilitiesParams,
  CapabilitiesResult: driver.CapabilitiesResult,
  PrepareParams: driver.PrepareParams,
  PrepareResult: driver.PrepareResult,
  InvokeParams: driver.InvokeParams,
  CancelParams: driver.CancelParams,
  CancelResult: driver.CancelResult,
  ResetParams: driver.ResetParams,
  ResetResult: driver.ResetResult,
  ShutdownParams: driver.ShutdownParams,
  ShutdownResult: driver.ShutdownResult,
  ObservationParams: driver.ObservationParams,
  CompletedParams: driver.CompletedParams,
  DataFrameHeader: driver.DataFrameHeader,
  RPCError: driver.RpcError,
  ErrorData: driver.ErrorData,
  DriverIdentity: driver.DriverIdentity,
  VersionRange: driver.VersionRange,
  ExactInputHandle: driver.ExactInputHandle,
  CompanionStreamRef: driver.CompanionStreamRef,
  ObjectRef: driver.ObjectRef,
  InstanceID: driver.InstanceId,
  Digest: driver.Digest,
};

const VALIDATORS: { readonly [type: string]: (value: never) => void } = {
  HelloParams: driver.validateHelloParams,
  HelloResult: driver.validateHelloResult,
  PrepareParams: driver.validatePrepareParams,
  InvokeParams: driver.validateInvokeParams,
  CancelParams: driver.validateCancelParams,
  ObservationParams: driver.validateObservationParams,
  CompletedParams: driver.validateCompletedParams,
  DataFrameHeader: driver.validateDataFrameHeader,
  RPCError: driver.validateRpcError,
};

/** The public validator of a type, or the check of its schema where it has none of its own. */
export function validatorOf(type: string): (value: unknown) => void {
  const own = VALIDATORS[type] as ((value: unknown) => void) | undefined;
  return own ?? ((value) => checkRecord(RECORDS[type]!, value));
}
