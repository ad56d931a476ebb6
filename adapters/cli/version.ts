import { readFileSync } from "node:fs";

/** How many folders above this file the package may begin: two from source, three when built. */
const MAX_LEVELS = 3;

/** The version of this package, from its package.json. */
export function version(): string {
  for (let level = 1; level <= MAX_LEVELS; level++) {
    const manifest = read(new URL(`${"../".repeat(level)}package.json`, import.meta.url));
    if (manifest?.name === "sluice") return manifest.version ?? "unknown";
  }
  return "unknown";
}

function read(url: URL): { readonly name?: string; readonly version?: string } | undefined {
  try {
    return JSON.parse(readFileSync(url, "utf8")) as { name?: string; version?: string };
  } catch {
    return undefined;
  }
}
