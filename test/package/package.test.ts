import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { below, importsOf, moduleGraph } from "../support/module-graph.ts";
import { find, type RuntimeName } from "../support/runtimes.ts";

interface Manifest {
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<
    Record<string, string | { readonly "sluice:source": string; readonly default: string }>
  >;
  readonly dependencies: Readonly<Record<string, string>>;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (name: string): Manifest =>
  JSON.parse(readFileSync(join(root, name), "utf8")) as Manifest;
const manifest = read("package.json");
const entries = Object.entries(manifest.exports).flatMap(([name, entry]) =>
  typeof entry === "string" ? [] : [{ name, source: entry["sluice:source"], built: entry.default }],
);
const runtimeOf = (name: string): RuntimeName | undefined =>
  (["node", "deno", "bun"] as const).find((runtime) => name === `./${runtime}`);

describe("package.json and deno.json", () => {
  const deno = read("deno.json");

  test("agree on version and licence", () => {
    expect([deno.version, deno.license]).toEqual([manifest.version, manifest.license]);
  });

  test("export the same names from the same sources", () => {
    expect(deno.exports).toEqual(
      Object.fromEntries(entries.map(({ name, source }) => [name, source])),
    );
  });
});

describe("the built package", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "sluice-build-"));
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const { status, stdout } = spawnSync(
      find("node", root)!.path,
      [tsc, "-p", "tsconfig.build.json", "--outDir", folder],
      {
        cwd: root,
        encoding: "utf8",
      },
    );
    expect(stdout).toBe("");
    expect(status).toBe(0);
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(entries.filter(({ name }) => runtimeOf(name) === undefined))(
    "$name imports no built-in module and no package that is not a dependency",
    ({ built }) => {
      const graph = moduleGraph([join(folder, built.replace("./dist/", ""))]);
      expect([...graph.builtins]).toEqual([]);
      expect(graph.files.size).toBeGreaterThan(2);
      const allowed = Object.keys(manifest.dependencies);
      for (const name of graph.packages) {
        expect(
          allowed.some((dependency) => name === dependency || name.startsWith(`${dependency}/`)),
          name,
        ).toBe(true);
      }
      expect(
        [...graph.files].filter((file) => below(folder, file).startsWith("adapters/")),
      ).toEqual([]);
    },
  );

  test("the dependencies' own modules that it uses import no built-in module", () => {
    const graph = moduleGraph(
      entries
        .filter(({ name }) => name === "./json")
        .map(({ built }) => join(folder, built.replace("./dist/", ""))),
    );
    for (const name of graph.packages) {
      const inside = moduleGraph([join(root, "node_modules", name)]);
      expect([...inside.builtins], name).toEqual([]);
    }
    expect(graph.packages.size).toBeGreaterThan(0);
  });
});

describe("every entry", () => {
  const flags = {
    node: (code: string) => ["--conditions=sluice:source", "--input-type=module", "-e", code],
    deno: (code: string) => ["eval", "--conditions=sluice:source", code],
    bun: (code: string) => ["--conditions=sluice:source", "-e", code],
  };
  const cases = (["node", "deno", "bun"] as const).flatMap((runtime) =>
    entries
      .filter(({ name }) => (runtimeOf(name) ?? runtime) === runtime)
      .map(({ name }) => ({ runtime, entry: name.replace(".", "sluice") })),
  );

  test.each(cases)("$entry loads on $runtime", ({ runtime, entry }) => {
    const found = find(runtime, root);
    expect(found, `${runtime} is a devDependency`).toBeDefined();
    const code = `const names = Object.keys(await import(${JSON.stringify(entry)})); if (names.length === 0) throw new Error("no names")`;
    const { status, stderr } = spawnSync(found!.path, flags[runtime](code), {
      cwd: root,
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });
});

describe("the rooms of lib", () => {
  const files = readdirSync(join(root, "lib"), { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts"),
  );
  const PROTOCOLS = ["driver", "yield", "console", "delegation"];

  test("the protocols do not import each other", () => {
    for (const file of files) {
      const [own] = file.split("/");
      if (!PROTOCOLS.includes(own!)) continue;
      for (const name of importsOf(join(root, "lib", file))) {
        const target = below(join(root, "lib"), join(root, "lib", dirname(file), name)).split(
          "/",
        )[0]!;
        expect(PROTOCOLS.includes(target) && target !== own, `${file} imports ${name}`).toBe(false);
      }
    }
  });

  test("none imports an adapter", () => {
    for (const file of files) {
      for (const name of importsOf(join(root, "lib", file)))
        expect(name, file).not.toContain("adapters/");
    }
  });
});
