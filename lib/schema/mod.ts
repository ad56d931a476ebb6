/**
 * The port for validators: any Standard Schema checks a value, synchronously or not.
 *
 * @module
 */
export type { StandardSchemaV1 } from "@standard-schema/spec";
export { check, checkAsync, checkEither } from "./check-schema.ts";
export type { SchemaIssue, SchemaOutput } from "./check-schema.ts";
