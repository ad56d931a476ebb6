import type { PathStep } from "./json-fault.ts";
import { unencodable, UnencodableReason } from "./unencodable.ts";

/**
 * Refuses a tree with an unpaired surrogate in a string or a name.
 *
 * @throws {SluiceError} `unencodable`, with the path of the string, or of the member with that name.
 */
export function refuseLoneSurrogate(tree: unknown): void {
  search(tree, []);
}

function search(node: unknown, path: PathStep[]): void {
  if (typeof node === "string") refuseIn(node, path);
  if (typeof node !== "object" || node === null) return;
  for (const [name, child] of Array.isArray(node) ? node.entries() : Object.entries(node)) {
    if (child === undefined) continue;
    path.push(name);
    if (typeof name === "string") refuseIn(name, path);
    search(child, path);
    path.pop();
  }
}

function refuseIn(text: string, path: readonly PathStep[]): void {
  if (!text.isWellFormed()) throw unencodable(UnencodableReason.LoneSurrogate, path);
}
