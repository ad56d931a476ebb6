import type { StandardSchemaV1 } from "@standard-schema/spec";
import { SluiceError } from "../errors.ts";

/** The value type that a schema gives. */
export type SchemaOutput<S extends StandardSchemaV1> = StandardSchemaV1.InferOutput<S>;

/** One finding in the `issues` of a `schema_mismatch`. */
export interface SchemaIssue {
  /** Where, as a JSON pointer (RFC 6901); empty for the value itself. */
  readonly path: string;
  /** What the schema says, cut short. */
  readonly message: string;
}

/** Most issues kept in one error. */
const MAX_ISSUES = 16;
/** Most characters kept of an issue's message and of its path. */
const MAX_TEXT = 200;

/**
 * Checks a value against any Standard Schema, synchronously.
 *
 * @returns The schema's output, which may differ from the value (defaults, coercions).
 * @throws {SluiceError} `schema_mismatch` with `data.issues` when the value does not fit;
 *   `async_schema` when the schema answers with a promise: use {@link checkAsync} then.
 */
export function check<S extends StandardSchemaV1>(schema: S, value: unknown): SchemaOutput<S> {
  const result = schema["~standard"].validate(value);
  if (isPromise(result)) {
    // Nobody will wait for it, so its rejection must not surface as an unhandled one.
    result.then(undefined, () => {});
    throw new SluiceError(
      "async_schema",
      `The schema of "${schema["~standard"].vendor}" validates asynchronously where a synchronous one is needed; use checkAsync()`,
      { data: { vendor: schema["~standard"].vendor } },
    );
  }
  return outputOf<S>(result);
}

/**
 * Checks a value against any Standard Schema, synchronous or not.
 *
 * @returns A promise of the schema's output; it rejects with `schema_mismatch` as {@link check} throws it.
 */
export async function checkAsync<S extends StandardSchemaV1>(
  schema: S,
  value: unknown,
): Promise<SchemaOutput<S>> {
  return outputOf<S>(await schema["~standard"].validate(value));
}

/**
 * Checks a value without a detour for synchronous schemas: a promise comes back only from an
 * asynchronous one, so that order is kept where it can be.
 *
 * @throws {SluiceError} `schema_mismatch`; from an asynchronous schema as a rejection.
 */
export function checkEither<S extends StandardSchemaV1>(
  schema: S,
  value: unknown,
): SchemaOutput<S> | Promise<SchemaOutput<S>> {
  const result = schema["~standard"].validate(value);
  return isPromise(result) ? result.then((settled) => outputOf<S>(settled)) : outputOf<S>(result);
}

type Result = StandardSchemaV1.Result<unknown>;

function isPromise(result: Result | Promise<Result>): result is Promise<Result> {
  return typeof (result as { then?: unknown }).then === "function";
}

function outputOf<S extends StandardSchemaV1>(result: Result): SchemaOutput<S> {
  if (!result.issues) return result.value;
  throw mismatch(result.issues);
}

function mismatch(found: readonly StandardSchemaV1.Issue[]): SluiceError {
  const issues: SchemaIssue[] = found.slice(0, MAX_ISSUES).map((issue) => ({
    path: cut(pointerOf(issue.path)),
    message: cut(issue.message),
  }));
  const first = issues[0];
  const where =
    first === undefined || first.path === "" ? "The value" : `The value at ${first.path}`;
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : "";
  const what = first === undefined ? "" : `: ${first.message}`;
  return new SluiceError("schema_mismatch", `${where} does not match the schema${what}${more}`, {
    data: { issues, total: found.length },
  });
}

function pointerOf(path: StandardSchemaV1.Issue["path"]): string {
  let pointer = "";
  for (const segment of path ?? []) {
    const key = typeof segment === "object" ? segment.key : segment;
    pointer += `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (pointer.length > MAX_TEXT) break;
  }
  return pointer;
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
}
