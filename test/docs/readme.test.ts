import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../lib/limits.ts";
import { find } from "../support/runtimes.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const programs = [...readme.matchAll(/```ts\n\/\/ (\S+\.ts)\n([\s\S]*?)```/gu)].map((match) => ({
  name: match[1]!,
  code: match[2]!,
}));
const node = find("node", root)!.path;
let folder = "";

/** The programs lie inside the package, so that they can import it by its name, from its sources. */
beforeAll(() => {
  folder = mkdtempSync(join(root, ".readme-"));
  for (const { name, code } of programs) {
    writeFileSync(
      join(folder, name),
      code.replace('["node", ', `[${JSON.stringify(node)}, "--conditions=sluice:source", `),
    );
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(name: string): Promise<string> {
  const child = spawn(node, ["--conditions=sluice:source", name], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  return output;
}

test("the README has a host, a driver and the pipes, none over 20 lines", () => {
  expect(programs.map(({ name }) => name)).toEqual(["host.ts", "driver.ts", "pipes.ts"]);
  for (const { code } of programs) expect(code.trim().split("\n").length).toBeLessThanOrEqual(20);
});

test("the README's host runs the README's driver", async () => {
  expect(await run("host.ts")).toBe("number hello 1\nnumber hello 2\nnumber hello 3\ncompleted\n");
});

test("the README's pipes print their messages", async () => {
  expect(await run("pipes.ts")).toContain("{ kind: 'data', n: 1 }");
});

test("the README's table of limits names real limits", () => {
  const table = readme.slice(readme.indexOf("## Limits"), readme.indexOf("## Errors"));
  const names = [...table.matchAll(/^\| (.*?) \|/gmu)].flatMap((row) =>
    [...row[1]!.matchAll(/`(\w+)`/gu)].map((name) => name[1]!),
  );
  expect(names.length).toBeGreaterThan(20);
  for (const name of names) expect(DEFAULT_LIMITS).toHaveProperty(name);
});
