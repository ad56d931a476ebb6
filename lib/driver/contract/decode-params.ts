import { parseJson } from "../../json/parse-json.ts";
import { decodeRecord } from "../../schema/decode-record.ts";
import type { Schema } from "../../schema/schema.ts";
import { ErrorClass } from "./error-class.ts";
import { protocolError } from "./protocol-error.ts";

/**
 * Decodes a JSON text as one record of the contract: strict JSON, exact member names, no unknown member.
 *
 * Values are not checked; that is the `validate…` functions' part. There is no size bound, and line
 * breaks between tokens are allowed.
 *
 * @param raw UTF-8 bytes or text of one JSON value.
 * @param schema The record, such as `HelloParams`.
 * @returns The normalised record.
 * @throws {ProtocolError} Class `invalid_request` for every failure; `code` and `data` say which.
 */
export function decodeParamsStrict<T>(raw: string | Uint8Array, schema: Schema<T>): T {
  try {
    return decodeRecord(schema, parseJson(raw));
  } catch (error) {
    throw protocolError(ErrorClass.InvalidRequest, error);
  }
}
