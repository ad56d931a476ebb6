import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CompanionFaultCode } from "../../lib/driver/mod.ts";
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

test("the README's programs are these, none over 20 lines", () => {
  expect(programs.map(({ name }) => name)).toEqual([
    "host.ts",
    "driver.ts",
    "data-host.ts",
    "data-driver.ts",
    "loopback.ts",
    "pipes.ts",
  ]);
  for (const { code } of programs) expect(code.trim().split("\n").length).toBeLessThanOrEqual(20);
});

test("the README's host runs the README's driver", async () => {
  expect(await run("host.ts")).toBe("number hello 1\nnumber hello 2\nnumber hello 3\ncompleted\n");
});

test("the README's hosts and drivers exchange input and data", async () => {
  expect(await run("data-host.ts")).toBe("copy over the channel 16\ncompleted final\n");
});

test("the README's loopback test sees a driver that does not heed a cancel", async () => {
  expect(await run("loopback.ts")).toBe("cancellation_timeout\n");
});

test("the README's pipes print their messages", async () => {
  expect(await run("pipes.ts")).toContain("{ kind: 'data', n: 1 }");
});

/** The rows of the one table below a heading, as cells. */
function tableOf(heading: string): string[][] {
  const [, section] = readme.split(`\n## ${heading}\n`);
  const rows = section!
    .split("\n## ")[0]!
    .split("\n")
    .filter((line) => line.startsWith("|"));
  return rows.slice(2).map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const codesIn = (cell: string): string[] =>
  [...cell.matchAll(/`([\w./]+)`/gu)].map((match) => match[1]!);

test("the README's table of limits has real limits with their defaults", () => {
  const units: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, s: 1000, ms: 1 };
  const limits: Readonly<Record<string, number>> = DEFAULT_LIMITS;
  const rows = tableOf("Limits");
  expect(rows.length).toBeGreaterThan(20);
  for (const [names, values] of rows) {
    // Several times share their unit.
    const last = values!.endsWith("s") ? values!.split(" ").at(-1)! : "";
    const numbers = values!.split(", ").map((value) => {
      const [digits, unit = last] = value.split(" ");
      return (digits === "2^20" ? 2 ** 20 : Number(digits)) * (units[unit] ?? 1);
    });
    expect([names, ...numbers]).toEqual([names, ...codesIn(names!).map((name) => limits[name])]);
  }
});

test("the README's table of errors has every code of the companion channel", () => {
  const codes = new Set(tableOf("Errors").flatMap(([cell]) => codesIn(cell!)));
  for (const code of Object.values(CompanionFaultCode)) expect(codes).toContain(code);
});

test("the README's table of errors names codes that the sources give", () => {
  const sources = ["lib", "adapters"].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(join(root, room, name), "utf8")),
  );
  const codes = tableOf("Errors").flatMap(([cell]) => codesIn(cell!));
  expect(codes.length).toBeGreaterThan(40);
  const unknown = codes.filter((code) => !sources.some((text) => text.includes(`"${code}"`)));
  expect(unknown).toEqual([]);
});

test("the README's table of entries is what the package exports", () => {
  const manifest = readFileSync(join(root, "package.json"), "utf8");
  const { exports } = JSON.parse(manifest) as { readonly exports: object };
  const names = Object.keys(exports).filter((name) => name !== "./package.json");
  expect(tableOf("Entries").map(([cell]) => codesIn(cell!)[0])).toEqual(
    names.map((name) => name.replace(".", "sluice")),
  );
});

test("the README's links lead to files", () => {
  const links = [...readme.matchAll(/\]\(([^)#]+)\)/gu)].map((match) => match[1]!);
  expect(links.length).toBeGreaterThan(1);
  for (const link of links) expect(existsSync(join(root, link)), link).toBe(true);
});
