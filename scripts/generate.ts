/**
 * Writes the JSON Schema files of the contracts, for drivers in other languages: `npm run generate`.
 * With `--check` it writes nothing and exits with 1 when a file is not current.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as driver from "../lib/driver/mod.ts";
import type { SchemaNode } from "../lib/schema/schema.ts";

const folder = fileURLToPath(new URL("../schemas/driver-v1/", import.meta.url));

const records: Readonly<Record<string, SchemaNode>> = {
  HelloParams: driver.HelloParams,
  HelloResult: driver.HelloResult,
  PrepareParams: driver.PrepareParams,
  PrepareResult: driver.PrepareResult,
  CapabilitiesParams: driver.CapabilitiesParams,
  CapabilitiesResult: driver.CapabilitiesResult,
  InvokeParams: driver.InvokeParams,
  CancelParams: driver.CancelParams,
  CancelResult: driver.CancelResult,
  ResetParams: driver.ResetParams,
  ResetResult: driver.ResetResult,
  ShutdownParams: driver.ShutdownParams,
  ShutdownResult: driver.ShutdownResult,
  ObservationParams: driver.ObservationParams,
  CompletedParams: driver.CompletedParams,
  RpcError: driver.RpcError,
  DataFrameHeader: driver.DataFrameHeader,
};

/** Every schema file by name, with its text. */
function files(): Map<string, string> {
  return new Map(
    Object.entries(records).map(([title, schema]) => [
      `${title.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, "-").toLowerCase()}.schema.json`,
      `${JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", title, ...schema }, null, 2)}\n`,
    ]),
  );
}

/** Names what differs from what is wanted: changed, missing and left-over files. */
function stale(wanted: ReadonlyMap<string, string>): string[] {
  const present = existsSync(folder) ? readdirSync(folder) : [];
  const outdated = [...wanted].filter(
    ([name, text]) => !present.includes(name) || readFileSync(join(folder, name), "utf8") !== text,
  );
  return [...outdated.map(([name]) => name), ...present.filter((name) => !wanted.has(name))];
}

const wanted = files();
if (process.argv.includes("--check")) {
  const outdated = stale(wanted);
  if (outdated.length > 0) {
    process.stderr.write(`Not current, run npm run generate: ${outdated.join(", ")}\n`);
    process.exitCode = 1;
  }
} else {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of wanted) writeFileSync(join(folder, name), text);
  process.stdout.write(`${wanted.size} schema files written\n`);
}
