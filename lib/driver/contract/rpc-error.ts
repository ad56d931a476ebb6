import type { JsonValue } from "../../json/value.ts";
import {
  anything,
  type Infer,
  integer,
  oneOf,
  optional,
  record,
  text,
} from "../../schema/schema.ts";
import { ErrorClass } from "./error-class.ts";

/** Carries the class of a failure and free-form details. */
export const ErrorData = record({
  class: oneOf(Object.values(ErrorClass)),
  details: optional(anything<JsonValue>()),
});
/** Carries the class of a failure and free-form details. */
export type ErrorData = Infer<typeof ErrorData>;

/** The error object of a response. */
export const RpcError = record({
  code: integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  message: text({ minLength: 1 }),
  data: ErrorData,
});
/** The error object of a response. */
export type RpcError = Infer<typeof RpcError>;
