import type { StandardSchemaV1 } from "@standard-schema/spec";
import { isSluiceError } from "../errors.ts";
import { check } from "../schema/check-schema.ts";
import type { SchemaOutput } from "../schema/check-schema.ts";
import type { Stage } from "../stage/stage.ts";
import { mapStage } from "./map-stage.ts";

/**
 * A stage that checks each value against a synchronous Standard Schema and hands on its output.
 *
 * A value that does not fit is a `schema_mismatch` fault in place. Anything else that the schema
 * throws is fatal, and so is `async_schema`.
 *
 * @param schema Any synchronous Standard Schema.
 */
export function validate<S extends StandardSchemaV1>(schema: S): Stage<unknown, SchemaOutput<S>> {
  return mapStage(
    (value: unknown) => check(schema, value),
    (thrown) => (isSluiceError(thrown, "schema_mismatch") ? thrown : undefined),
  );
}
