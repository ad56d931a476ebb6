import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";

/** What a module imports at run time: files by path, packages and built-in modules by name. */
export interface ModuleGraph {
  readonly files: ReadonlySet<string>;
  readonly packages: ReadonlySet<string>;
  readonly builtins: ReadonlySet<string>;
}

const IMPORT =
  /(?:^|[\s;])(?:import|export)\s(?!type\s)[^"';]*?from\s*["']([^"']+)["']|\bimport\s*\(?\s*["']([^"']+)["']/gu;

/** The specifiers that a module's text imports; type imports do not count. */
export function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gmu, "");
  return [...text.matchAll(IMPORT)].map((match) => (match[1] ?? match[2])!);
}

/** Follows the imports of some modules through the files of the project. */
export function moduleGraph(entries: readonly string[]): ModuleGraph {
  const graph = {
    files: new Set<string>(),
    packages: new Set<string>(),
    builtins: new Set<string>(),
  };
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (graph.files.has(file)) continue;
    graph.files.add(file);
    for (const name of importsOf(file)) {
      if (name.startsWith(".")) open.push(join(dirname(file), name));
      else (isBuiltin(name) ? graph.builtins : graph.packages).add(name);
    }
  }
  return graph;
}

/** Names a file below a folder, with forward slashes. */
export function below(root: string, file: string): string {
  return relative(root, file).replaceAll("\\", "/");
}
