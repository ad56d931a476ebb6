/** The published JSON Schema files, built from the records of the contract. */
import * as driver from "../lib/driver/mod.ts";
import type { SchemaNode } from "../lib/schema/schema.ts";
import { RECORD_TEXTS } from "./schema-texts.ts";

/** JSON Schema beyond what contracts use. */
type PublishedNode = { readonly [keyword: string]: unknown };

/** Records that have a file of their own; those that only occur within others are written out there. */
const PUBLISHED = [
  "HelloParams",
  "HelloResult",
  "PrepareParams",
  "PrepareResult",
  "CapabilitiesParams",
  "CapabilitiesResult",
  "InvokeParams",
  "CancelParams",
  "CancelResult",
  "ResetParams",
  "ResetResult",
  "ShutdownParams",
  "ShutdownResult",
  "ObservationParams",
  "CompletedParams",
  "RpcError",
  "DataFrameHeader",
  "CompanionHello",
  "CompanionCredit",
  "CompanionAbort",
  "CompanionStop",
] as const;

/** The method's params, and whether they may be left out. */
const CALLS = {
  [driver.Method.Hello]: "HelloParams",
  [driver.Method.Prepare]: "PrepareParams",
  [driver.Method.Capabilities]: "CapabilitiesParams",
  [driver.Method.Invoke]: "InvokeParams",
  [driver.Method.Cancel]: "CancelParams",
  [driver.Method.Reset]: "ResetParams",
  [driver.Method.Shutdown]: "ShutdownParams",
  [driver.Method.Observation]: "ObservationParams",
  [driver.Method.Completed]: "CompletedParams",
} as const satisfies Record<driver.Method, (typeof PUBLISHED)[number]>;

const NOTIFICATIONS: readonly driver.Method[] = [
  driver.Method.Observation,
  driver.Method.Completed,
];
const WITHOUT_PARAMS: readonly driver.Method[] = [
  driver.Method.Capabilities,
  driver.Method.Reset,
  driver.Method.Shutdown,
];

/** The records of the contract by the names under which it exports them. */
export const RECORDS: ReadonlyMap<string, SchemaNode> = new Map(
  Object.entries(driver as Readonly<Record<string, unknown>>)
    .filter(([name]) => name in RECORD_TEXTS)
    .map(([name, schema]) => [name, schema as SchemaNode]),
);
const recordNames = new Map([...RECORDS].map(([name, record]) => [record, name]));

/** Every schema file by name, with its text. */
export function schemaFiles(): ReadonlyMap<string, string> {
  const schemas: [title: string, schema: PublishedNode][] = PUBLISHED.map((name) => [
    name,
    described(RECORDS.get(name)!),
  ]);
  schemas.push(["ControlFrame", controlFrame()], ["CompanionBlock", companionBlock()]);
  return new Map(
    schemas.map(([title, schema]) => {
      const $id = fileName(title);
      const $schema = "https://json-schema.org/draft/2020-12/schema";
      return [$id, `${JSON.stringify({ $schema, $id, title, ...schema }, null, 2)}\n`];
    }),
  );
}

function fileName(title: string): string {
  return `${title.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, "-").toLowerCase()}.schema.json`;
}

/** A record of the contract with what is to be said of it and of its members, at every level. */
function described(node: SchemaNode): PublishedNode {
  const text = RECORD_TEXTS[recordNames.get(node) ?? ""];
  if (text === undefined)
    return node.items ? { ...node, items: described(node.items) } : { ...node };
  const members = Object.entries(node.properties ?? {}).map(([name, member]) => [
    name,
    { ...described(member), ...text.bounds?.[name], description: text.members[name] },
  ]);
  return {
    description: text.description,
    ...node,
    properties: Object.fromEntries(members) as PublishedNode,
  };
}

function controlFrame(): PublishedNode {
  const calls = Object.entries(CALLS) as [driver.Method, string][];
  return {
    description: "One line of the control pipe: a request, a notification or a response.",
    oneOf: [
      ...calls.map(([method, params]) => call(method, params)),
      envelope("A response that succeeded.", {
        id: ID,
        result: { description: "What the method's result says; of driver.invoke any JSON value." },
      }),
      envelope("A response that failed.", { id: ID, error: { $ref: fileName("RpcError") } }),
    ],
    $defs: { id: ID_RULE },
  };
}

const ID = { $ref: "#/$defs/id" };
const ID_RULE = {
  description: "Chosen by the host and given back as it came.",
  type: ["string", "integer"],
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
};

function call(method: driver.Method, params: string): PublishedNode {
  const notification = NOTIFICATIONS.includes(method);
  const members = {
    method: { const: method },
    params: { $ref: fileName(params) },
    ...(!notification && { id: ID }),
  };
  const optional = WITHOUT_PARAMS.includes(method) ? ["params"] : [];
  const who = notification ? "notification of the driver" : "request of the host";
  return envelope(`${method}, a ${who}.`, members, optional);
}

function envelope(
  description: string,
  members: PublishedNode,
  optional: readonly string[] = [],
): PublishedNode {
  const properties = { jsonrpc: { const: driver.JSON_RPC_VERSION }, ...members };
  return {
    description,
    type: "object",
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
    additionalProperties: false,
  };
}

function companionBlock(): PublishedNode {
  const blocks = [
    "CompanionHello",
    "CompanionCredit",
    "CompanionAbort",
    "CompanionStop",
    "DataFrameHeader",
  ];
  return {
    description:
      "One JSON block of the companion channel; a data frame's header is followed by its payload.",
    oneOf: blocks.map((name) => ({ $ref: fileName(name) })),
  };
}
