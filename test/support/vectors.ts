import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** Bytes as the vectors write them. */
export type VectorBytes =
  | { readonly text: string }
  | { readonly base64: string }
  | { readonly repeat: readonly [string, number] }
  | { readonly concat: readonly VectorBytes[] }
  | { readonly counter: Counter };

interface Counter {
  readonly count: number;
  readonly start: number;
  readonly width: number;
  readonly prefix: string;
  readonly suffix: string;
  readonly separator: string;
}

/** Output bytes: whole, or length and digest. */
export type VectorOut =
  | { readonly text: string }
  | { readonly length: number; readonly sha256: string };

/** One line of a vector file. */
export interface Vector<I, W> {
  readonly name: string;
  readonly in: I;
  readonly want: W;
  readonly surprise?: boolean;
  readonly note?: string;
  readonly kit?: "same" | "stricter";
}

/** Where the vectors lie: `VECTORS_DIR`, or the copies in this repository. */
export const vectorsDir: string =
  process.env["VECTORS_DIR"] ?? fileURLToPath(new URL("../vectors", import.meta.url));

/** Reads the vectors of one file; none when the folder has no such file. */
export function readVectors<I, W>(protocol: string, file: string): Vector<I, W>[] {
  const folder = join(vectorsDir, protocol);
  if (!readdirSync(folder).includes(file)) return [];
  return readFileSync(join(folder, file), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Vector<I, W>);
}

const encoder = new TextEncoder();

/** Expands bytes; parts may cut characters, so everything is joined as bytes. */
export function expand(bytes: VectorBytes): Uint8Array {
  if ("text" in bytes) return encoder.encode(bytes.text);
  if ("base64" in bytes) return new Uint8Array(Buffer.from(bytes.base64, "base64"));
  if ("repeat" in bytes) return encoder.encode(bytes.repeat[0].repeat(bytes.repeat[1]));
  if ("counter" in bytes) return encoder.encode(count(bytes.counter));
  return new Uint8Array(Buffer.concat(bytes.concat.map(expand)));
}

function count({ count: total, start, width, prefix, suffix, separator }: Counter): string {
  return Array.from(
    { length: total },
    (_, index) => prefix + String(start + index).padStart(width, "0") + suffix,
  ).join(separator);
}

/** Brings output into the form in which the vectors give it. */
export function asOut(bytes: Uint8Array): VectorOut {
  return bytes.length <= 4096
    ? { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) }
    : { length: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}
