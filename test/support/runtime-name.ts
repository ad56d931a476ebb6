import process from "node:process";
import type { RuntimeName } from "./runtimes.ts";

/** The runtime that runs this very test. */
export const runtime: RuntimeName =
  "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node";

/** The command that runs a program file on this same runtime. */
export function sameRuntime(file: string, ...args: readonly string[]): string[] {
  const run = runtime === "deno" ? ["run", "-A", "--no-lock"] : [];
  return [process.execPath, ...run, file, ...args];
}
