import { checkRecord } from "../../schema/check-record.ts";
import { decodeRecord } from "../../schema/decode-record.ts";
import type { Schema } from "../../schema/schema.ts";
import { CancelParams } from "./cancel.ts";
import { CompletedParams } from "./completed.ts";
import { DataFrameHeader } from "./data-frame-header.ts";
import { ErrorClass } from "./error-class.ts";
import { HelloParams, HelloResult } from "./hello.ts";
import { InvokeParams } from "./invoke.ts";
import { ObservationParams } from "./observation.ts";
import { PrepareParams } from "./prepare.ts";
import { protocolError } from "./protocol-error.ts";
import { RpcError } from "./rpc-error.ts";
import { validateDataFrameSize } from "./frame-size.ts";

/**
 * Reads a value as a record and checks its values, with one class for every failure.
 *
 * @returns The normalised record.
 * @throws {ProtocolError} Of class `errorClass`, code `invalid_record`.
 */
export function readRecord<T>(schema: Schema<T>, value: unknown, errorClass: ErrorClass): T {
  try {
    const record = decodeRecord(schema, value);
    checkRecord(schema, record);
    return record;
  } catch (error) {
    throw protocolError(errorClass, error);
  }
}

function validate<T>(
  schema: Schema<T>,
  value: T,
  errorClass: ErrorClass = ErrorClass.InvalidRequest,
): void {
  readRecord(schema, value, errorClass);
}

/** Checks hello params. @throws {ProtocolError} Class `invalid_request`. */
export function validateHelloParams(params: HelloParams): void {
  validate(HelloParams, params);
}

/** Checks a hello result. @throws {ProtocolError} Class `invalid_request`. */
export function validateHelloResult(result: HelloResult): void {
  validate(HelloResult, result);
}

/** Checks prepare params. @throws {ProtocolError} Class `invalid_request`. */
export function validatePrepareParams(params: PrepareParams): void {
  validate(PrepareParams, params);
}

/** Checks invoke params. @throws {ProtocolError} Class `invalid_request`. */
export function validateInvokeParams(params: InvokeParams): void {
  validate(InvokeParams, params);
}

/** Checks cancel params. @throws {ProtocolError} Class `invalid_request`. */
export function validateCancelParams(params: CancelParams): void {
  validate(CancelParams, params);
}

/** Checks observation params. @throws {ProtocolError} Class `malformed_observation`. */
export function validateObservationParams(params: ObservationParams): void {
  validate(ObservationParams, params, ErrorClass.MalformedObservation);
}

/** Checks completed params. @throws {ProtocolError} Class `malformed_observation`. */
export function validateCompletedParams(params: CompletedParams): void {
  validate(CompletedParams, params, ErrorClass.MalformedObservation);
}

/** Checks the error object of a response. @throws {ProtocolError} Class `invalid_request`. */
export function validateRpcError(error: RpcError): void {
  validate(RpcError, error);
}

/**
 * Checks a data frame header: identity first, then the size bound.
 *
 * @throws {ProtocolError} Class `invalid_request`; or `budget_exceeded`, code `data_frame_too_large`.
 */
export function validateDataFrameHeader(header: DataFrameHeader): void {
  validate(DataFrameHeader, header);
  validateDataFrameSize(header.length);
}
