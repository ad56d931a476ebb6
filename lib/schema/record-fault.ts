import { SluiceError } from "../errors.ts";

/** Builds the error of one member that breaks a contract: code `invalid_record`, data `{path}`. */
export function recordFault(path: string, problem: string): SluiceError {
  return new SluiceError("invalid_record", `${path === "" ? "The value" : path} ${problem}`, {
    data: { path },
  });
}

/** As {@link recordFault}, for a member that a record must have: data `{path, missing: true}`. */
export function missingFault(path: string): SluiceError {
  return new SluiceError("invalid_record", `${path} is missing`, { data: { path, missing: true } });
}

/** As {@link recordFault}, for a value of the right type that is not allowed: data `{path, value: true}`. */
export function valueFault(path: string, problem: string): SluiceError {
  return new SluiceError("invalid_record", `${path === "" ? "The value" : path} ${problem}`, {
    data: { path, value: true },
  });
}

/** Appends a member name or an index to a JSON pointer (RFC 6901). */
export function pointer(path: string, name: string | number): string {
  return `${path}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Names the JSON type of a value, for messages. */
export function typeName(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
