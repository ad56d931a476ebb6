import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { spawnSync } from "node:child_process";

/** Runtimes a test may launch. */
export type RuntimeName = "node" | "deno" | "bun";
const exe = process.platform === "win32" ? ".exe" : "";
const libc = process.platform === "linux" ? "-glibc" : "";
const bunArch = process.arch === "arm64" ? "aarch64" : process.arch;
/** Candidate files, best first; the first that runs wins. */
export function candidates(name: RuntimeName, root: string): string[] {
  const modules = join(root, "node_modules");
  const fromEnv = process.env[`SLUICE_TEST_${name.toUpperCase()}`];
  const list: Record<RuntimeName, string[]> = {
    node: [
      join(modules, "node", "bin", `node${exe}`),
      join(modules, `node-${process.platform}-${process.arch}`, "bin", `node${exe}`),
      process.execPath,
    ],
    deno: [
      join(modules, "deno", `deno${exe}`),
      join(modules, "@deno", `${process.platform}-${process.arch}${libc}`, `deno${exe}`),
    ],
    bun: [
      join(modules, "bun", "bin", "bun.exe"),
      join(modules, "@oven", `bun-${process.platform}-${bunArch}`, "bin", `bun${exe}`),
    ],
  };
  return fromEnv ? [fromEnv] : list[name];
}
/** Path and version of a runtime, or undefined when this checkout has none. */
export function find(
  name: RuntimeName,
  root: string = process.cwd(),
): { path: string; version: string } | undefined {
  for (const path of candidates(name, root)) {
    if (!existsSync(path)) continue;
    const run = spawnSync(path, ["--version"], { encoding: "utf8" });
    if (run.status === 0 && /\d+\.\d+/.test(run.stdout))
      return { path, version: run.stdout.split("\n")[0]! };
  }
  return undefined;
}
