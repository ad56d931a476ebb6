import { sortedNames } from "./sorted-names.ts";

/**
 * Writes a tree with each object's members sorted, for trees whose order no object can hold: names
 * that are array indices come first in every object, in numeric order.
 *
 * @param node What {@link arrange} returned.
 */
export function sortedText(node: unknown): string {
  if (typeof node !== "object" || node === null) return JSON.stringify(node);
  const parts: string[] = [];
  if (Array.isArray(node)) {
    for (const child of node) parts.push(sortedText(child));
    return `[${parts.join(",")}]`;
  }
  for (const name of sortedNames(node)) {
    const child: unknown = Reflect.get(node, name);
    if (child !== undefined) parts.push(`${JSON.stringify(name)}:${sortedText(child)}`);
  }
  return `{${parts.join(",")}}`;
}
