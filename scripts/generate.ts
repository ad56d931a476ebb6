/**
 * Writes the JSON Schema files of the contracts, for drivers in other languages: `npm run generate`.
 * With `--check` it writes nothing and exits with 1 when a file is not current.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { schemaFiles } from "./schema-files.ts";

const folder = fileURLToPath(new URL("../schemas/driver-v1/", import.meta.url));

/** Names what differs from what is wanted: changed, missing and left-over files. */
function stale(wanted: ReadonlyMap<string, string>): string[] {
  const present = existsSync(folder) ? readdirSync(folder) : [];
  const outdated = [...wanted].filter(
    ([name, text]) => !present.includes(name) || readFileSync(join(folder, name), "utf8") !== text,
  );
  return [...outdated.map(([name]) => name), ...present.filter((name) => !wanted.has(name))];
}

const wanted = schemaFiles();
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
