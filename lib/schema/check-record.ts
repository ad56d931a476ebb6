import { pointer, valueFault } from "./record-fault.ts";
import type { Schema, SchemaNode } from "./schema.ts";

/**
 * Checks the values of a decoded record: patterns, closed sets, lengths, members that need or exclude
 * each other. The value must have come from {@link decodeRecord} of the same schema.
 *
 * @throws {SluiceError} `invalid_record` with the path of the first member that does not fit,
 *   and `value: true` among its data.
 */
export function checkRecord<T>(schema: Schema<T>, value: T): void {
  checkNode(schema, value, "");
}

function checkNode(schema: SchemaNode, value: unknown, path: string): void {
  if (schema.type === "string") checkText(schema, value as string, path);
  else if (schema.type === "array") {
    (value as unknown[]).forEach((item, index) =>
      checkNode(schema.items!, item, pointer(path, index)),
    );
  } else if (schema.type === "object")
    checkMembers(schema, value as Readonly<Record<string, unknown>>, path);
}

function checkText(schema: SchemaNode, value: string, path: string): void {
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    throw valueFault(path, `must be one of ${schema.enum.join(", ")}, got ${quote(value)}`);
  }
  if (schema.minLength !== undefined && value.length < schema.minLength) {
    throw valueFault(path, "must not be empty");
  }
  if (schema.pattern !== undefined && !compiled(schema.pattern).test(value)) {
    throw valueFault(path, `must match ${schema.pattern}, got ${quote(value)}`);
  }
}

function checkMembers(
  schema: SchemaNode,
  value: Readonly<Record<string, unknown>>,
  path: string,
): void {
  for (const [name, member] of Object.entries(schema.properties!)) {
    if (value[name] !== undefined) checkNode(member, value[name], pointer(path, name));
  }
  for (const [name, needed] of Object.entries(schema.dependentRequired ?? {})) {
    if (value[name] === undefined) continue;
    for (const other of needed) {
      if (value[other] === undefined)
        throw valueFault(pointer(path, other), `is missing beside ${name}`);
    }
  }
  const excluded = schema.not?.required;
  if (excluded?.every((name) => value[name] !== undefined)) {
    throw valueFault(path, `must not have ${excluded.join(" and ")} together`);
  }
}

function quote(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

const PATTERNS = new Map<string, RegExp>();

/** Patterns are those of contracts, so the cache is bounded by the code. */
function compiled(pattern: string): RegExp {
  let regexp = PATTERNS.get(pattern);
  if (regexp === undefined) PATTERNS.set(pattern, (regexp = new RegExp(pattern, "u")));
  return regexp;
}
