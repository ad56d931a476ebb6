import { missingFault, pointer, recordFault, typeName } from "./record-fault.ts";
import type { Schema, SchemaNode } from "./schema.ts";

/**
 * Reads a parsed JSON value as a record of a contract: types, unknown and missing members.
 *
 * The result is a normalised copy: required lists and strings that are null or missing are empty,
 * optional members that are null, and optional strings that are empty, are absent. Whether a value may
 * be empty, its pattern and its set are {@link checkRecord}'s to say.
 *
 * @throws {SluiceError} `invalid_record` with the path of the first member that does not fit; members that
 *   are missing come after those that do not fit.
 */
export function decodeRecord<T>(schema: Schema<T>, value: unknown): T {
  return decode(schema, value, "") as T;
}

function decode(schema: SchemaNode, value: unknown, path: string): unknown {
  switch (schema.type) {
    case undefined:
      return value;
    case "object":
      return decodeObject(schema, value, path);
    case "array":
      if (!Array.isArray(value)) throw wrongType(schema, value, path);
      return value.map((item, index) => decode(schema.items!, item, pointer(path, index)));
    case "integer":
      return decodeInteger(schema, value, path);
    default:
      if (typeof value !== schema.type) throw wrongType(schema, value, path);
      return value;
  }
}

function decodeObject(schema: SchemaNode, value: unknown, path: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw wrongType(schema, value, path);
  const source = value as Readonly<Record<string, unknown>>;
  const properties = schema.properties!;
  for (const name of Object.keys(source)) {
    if (Object.hasOwn(properties, name) || source[name] === undefined) continue;
    throw recordFault(pointer(path, name), "is not a member of this record");
  }
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(properties)) {
    const given = Object.hasOwn(source, name) ? source[name] : undefined;
    const settledValue = settled(given, { member, required: schema.required!.includes(name) });
    if (settledValue !== undefined)
      result[name] = decode(member, settledValue, pointer(path, name));
  }
  const missing = schema.required!.find((name) => result[name] === undefined);
  if (missing !== undefined) throw missingFault(pointer(path, missing));
  return result;
}

/** What an absent, null or empty member stands for; undefined when the record does not get it. */
function settled(
  value: unknown,
  { member, required }: { member: SchemaNode; required: boolean },
): unknown {
  const empty = value === undefined || (value === null && member.type !== undefined);
  if (!required) return empty || (value === "" && member.type === "string") ? undefined : value;
  if (empty && member.type === "array") return [];
  if (empty && member.type === "string") return "";
  return value;
}

function decodeInteger(schema: SchemaNode, value: unknown, path: string): number {
  if (typeof value !== "number") throw wrongType(schema, value, path);
  if (!Number.isInteger(value) || value < schema.minimum! || value > schema.maximum!) {
    throw recordFault(
      path,
      `must be a whole number from ${schema.minimum} to ${schema.maximum}, got ${value}`,
    );
  }
  return value === 0 ? 0 : value;
}

const NOUNS = {
  object: "an object",
  array: "a list",
  string: "a string",
  integer: "a number",
  boolean: "true or false",
};

function wrongType(schema: SchemaNode, value: unknown, path: string): Error {
  return recordFault(path, `must be ${NOUNS[schema.type!]}, got ${typeName(value)}`);
}
