import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { METHODS } from "../../lib/driver/contract/method.ts";
import { readRecord } from "../../lib/driver/contract/validate.ts";
import {
  type DataFrameHeader,
  decodeControlFrame,
  decodeParamsStrict,
  encodeControlFrame,
  type Method,
  validateDataFrameHeader,
} from "../../lib/driver/mod.ts";
import { isSluiceError } from "../../lib/errors.ts";
import { parseJson } from "../../lib/json/mod.ts";
import type { Schema } from "../../lib/schema/schema.ts";
import { RECORDS, schemaFiles } from "../../scripts/schema-files.ts";
import { expand, readVectors, type VectorBytes } from "../support/vectors.ts";

const folder = fileURLToPath(new URL("../../schemas/driver-v1/", import.meta.url));
const files = new Map(
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
);
interface Node {
  readonly [keyword: string]: unknown;
}
const schemas = [...files.values()].map((text) => JSON.parse(text) as Node);

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
for (const schema of schemas) ajv.addSchema(schema);

/** Tells whether a value fits the file of this name. */
function fits(name: string, value: unknown): boolean {
  return ajv.validate(`${name}.schema.json`, value);
}

const kebab = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, "-").toLowerCase();

/** The nodes of a schema that describe values, with where they lie. */
function nodesOf(node: Node, path: string): (readonly [string, Node])[] {
  const named = ["properties", "$defs"].flatMap((keyword) => Object.entries(node[keyword] ?? {}));
  const items = node["items"] === undefined ? [] : [["[]", node["items"]] as const];
  const forms = ((node["oneOf"] ?? []) as Node[]).map((form) => ["oneOf", form] as const);
  const below = [...named, ...items, ...forms];
  return [
    [path, node],
    ...below.flatMap(([name, child]) => nodesOf(child as Node, `${path}/${name}`)),
  ];
}

describe("the schema files", () => {
  test("are what scripts/generate.ts would write", () => {
    expect(Object.fromEntries(files)).toEqual(Object.fromEntries(schemaFiles()));
  });

  test("compile in a validator's strict mode", () => {
    for (const { $id } of schemas) expect(ajv.getSchema(String($id))).toBeTypeOf("function");
    expect(schemas.length).toBeGreaterThan(20);
  });

  test("name themselves, close every record and describe every member", () => {
    for (const schema of schemas) {
      expect(files.has(String(schema["$id"]))).toBe(true);
      expect(schema["title"]).toBeTypeOf("string");
      expect(schema["description"]).toBeTypeOf("string");
      for (const [path, node] of nodesOf(schema, String(schema["$id"]))) {
        if (node["type"] === "object") expect(node["additionalProperties"], path).toBe(false);
        if (node["$ref"] === undefined && node["const"] === undefined && !path.endsWith("[]"))
          expect(node["description"], path).toMatch(/[\w>]\.$/u);
      }
    }
  });

  test("refer only to files that exist", () => {
    const refs = [...files.values()].flatMap((text) => [...text.matchAll(/"\$ref": "([^"#]+)"/gu)]);
    expect(refs.length).toBeGreaterThan(10);
    for (const [, name] of refs) expect(files.has(name!), name).toBe(true);
  });
});

type ParamsIn = VectorBytes & { readonly type: string };
const params = readVectors<ParamsIn, object>("driver", "params.ndjson").flatMap(
  ({ name, in: given }) => {
    const title = given.type === "RPCError" ? "RpcError" : given.type;
    if (!files.has(`${kebab(title)}.schema.json`)) return [];
    return [{ name, title, bytes: expand(given) }];
  },
);
const frames = readVectors<VectorBytes, object>("driver", "decode.ndjson").map(
  ({ name, in: given }) => ({ name, bytes: expand(given) }),
);

/** What a function gives; undefined when the kit refuses. */
function unlessRefused<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (isSluiceError(error)) return undefined;
    throw error;
  }
}

/** The record as the kit has it: null and missing lists are empty, what is absent is left out. */
function recordOf(title: string, bytes: Uint8Array): object | undefined {
  const schema = RECORDS.get(title) as Schema<object>;
  return unlessRefused(() => {
    const record = readRecord(schema, decodeParamsStrict(bytes, schema), "invalid_request");
    if (title === "DataFrameHeader") validateDataFrameHeader(record as DataFrameHeader);
    return record;
  });
}

/** What the kit sends for a frame that it has decoded; undefined when it refuses it. */
function sent(bytes: Uint8Array): unknown {
  return unlessRefused(() => {
    const message = decodeControlFrame(bytes);
    const { method, params: raw } = message;
    const record =
      method === undefined || raw === undefined
        ? raw
        : readRecord<object>(METHODS[method as Method].params, raw, "invalid_request");
    const frame = encodeControlFrame({
      ...message,
      ...(record !== undefined && { params: record }),
    });
    return JSON.parse(new TextDecoder().decode(frame)) as unknown;
  });
}

/** The value of a text; undefined when it is no strict JSON, which no schema sees. */
function valueOf(bytes: Uint8Array): unknown {
  return unlessRefused(() => parseJson(bytes));
}

describe("the vectors' params", () => {
  test("that the kit takes fit their schema in the form in which it sends them", () => {
    let count = 0;
    for (const { name, title, bytes } of params) {
      const record = recordOf(title, bytes);
      if (record === undefined) continue;
      count += 1;
      expect(fits(kebab(title), record), `${name}: ${ajv.errorsText()}`).toBe(true);
    }
    expect(count).toBeGreaterThan(100);
  });

  test("that the kit refuses do not fit, but for a half of a pair that is there and empty", () => {
    let count = 0;
    const beyond: string[] = [];
    for (const { name, title, bytes } of params) {
      const value = valueOf(bytes);
      if (value === undefined || recordOf(title, bytes) !== undefined) continue;
      count += 1;
      if (fits(kebab(title), value)) beyond.push(name);
    }
    expect(count).toBeGreaterThan(200);
    expect(beyond).toEqual([
      "params/HelloResult.identity_sdk_pair/4",
      "params/HelloResult.identity_client_pair/4",
    ]);
  });
});

describe("the vectors' control frames", () => {
  test("that the kit takes fit control-frame in the form in which it sends them", () => {
    let count = 0;
    for (const { name, bytes } of frames) {
      const frame = sent(bytes);
      if (frame === undefined) continue;
      count += 1;
      expect(fits("control-frame", frame), `${name}: ${ajv.errorsText()}`).toBe(true);
    }
    expect(count).toBeGreaterThan(80);
  });

  test("that the kit refuses do not fit control-frame", () => {
    let count = 0;
    for (const { name, bytes } of frames) {
      if (bytes.length > 100_000 || unlessRefused(() => decodeControlFrame(bytes)) !== undefined)
        continue;
      const value = valueOf(bytes);
      // How a line ends is beyond any schema.
      if (value === undefined || name.startsWith("decode/line.")) continue;
      count += 1;
      expect(fits("control-frame", value), name).toBe(false);
    }
    expect(count).toBeGreaterThan(100);
  });
});

describe("the companion vectors' blocks", () => {
  const decoded = readVectors<{ readonly concat: readonly VectorBytes[] }, BlocksWant>(
    "companion",
    "blocks.ndjson",
  ).flatMap(({ want }) => want.blocks);

  test("fit companion-block as far as they are JSON", () => {
    expect(decoded.length).toBeGreaterThan(50);
    for (const block of decoded)
      expect(fits("companion-block", "header" in block ? block.header : block)).toBe(true);
  });

  test("with another type, a further member or one too few do not fit", () => {
    for (const block of decoded) {
      const value = (("header" in block ? block.header : block) ?? {}) as Record<string, unknown>;
      const { stream_id: _, max_frame_bytes: __, ...less } = value;
      for (const other of [{ ...value, type: "other" }, { ...value, more: 1 }, less])
        expect(fits("companion-block", other), JSON.stringify(other)).toBe(false);
    }
  });
});

interface BlocksWant {
  readonly blocks: readonly { readonly header?: object }[];
}
