declare const STATIC: unique symbol;
declare const OPTIONAL: unique symbol;

/** The part of JSON Schema 2020-12 that contracts use; the published schema files are these objects. */
export interface SchemaNode {
  readonly title?: string;
  readonly description?: string;
  readonly type?: "object" | "array" | "string" | "integer" | "boolean";
  readonly properties?: { readonly [name: string]: SchemaNode };
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly dependentRequired?: { readonly [name: string]: readonly string[] };
  readonly not?: { readonly required: readonly string[] };
  readonly items?: SchemaNode;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A contract schema: JSON Schema that carries the type of its values. */
export type Schema<T> = SchemaNode & { readonly [STATIC]?: T };

/** A member that may be absent; only {@link record} takes it. */
export interface OptionalMember<T> {
  readonly schema: Schema<T>;
  readonly [OPTIONAL]?: true;
}

/** The type of a schema's values. */
export type Infer<S> = S extends { readonly [STATIC]?: infer T } ? T : never;

type Members = { readonly [name: string]: Schema<unknown> | OptionalMember<unknown> };
type OptionalNames<M> = {
  [K in keyof M]: M[K] extends { readonly schema: unknown } ? K : never;
}[keyof M];
type MemberType<M> = M extends { readonly schema: infer S } ? Infer<S> : Infer<M>;
type RecordOf<M> = {
  readonly [K in Exclude<keyof M, OptionalNames<M>>]: MemberType<M[K]>;
} & {
  readonly [K in OptionalNames<M>]?: MemberType<M[K]>;
} extends infer R
  ? { [K in keyof R]: R[K] }
  : never;

/** A string; `pattern` is an ECMAScript `u` pattern. */
export function text(
  rules: { readonly pattern?: string; readonly minLength?: number } = {},
): Schema<string> {
  return { type: "string", ...rules };
}

/** A whole number within two bounds. */
export function integer(minimum: number, maximum: number): Schema<number> {
  return { type: "integer", minimum, maximum };
}

/** `true` or `false`. */
export function flag(): Schema<boolean> {
  return { type: "boolean" };
}

/** One of a closed set of strings. */
export function oneOf<const T extends string>(values: readonly T[]): Schema<T> {
  return { type: "string", enum: values };
}

/** A list; where a record requires it, null or nothing decodes as the empty list. */
export function list<T>(items: Schema<T>): Schema<readonly T[]> {
  return { type: "array", items };
}

/** Any JSON value, null included. */
export function anything<T>(): Schema<T> {
  return {};
}

/** Marks a member of a record as optional. */
export function optional<T>(schema: Schema<T>): OptionalMember<T> {
  return { schema };
}

/** A record with exactly these members. */
export function record<const M extends Members>(
  members: M,
  rules: Pick<SchemaNode, "dependentRequired" | "not"> = {},
): Schema<RecordOf<M>> {
  const properties: Record<string, SchemaNode> = {};
  const required: string[] = [];
  for (const [name, member] of Object.entries(members)) {
    if ("schema" in member) properties[name] = member.schema;
    else {
      properties[name] = member;
      required.push(name);
    }
  }
  return { type: "object", properties, required, additionalProperties: false, ...rules };
}
