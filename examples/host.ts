/**
 * A host on the kit: starts an example driver, has it do four things, and checks what it says.
 *
 * `npm start` hosts the driver in TypeScript, `npm start -- --driver python` the one in Python.
 */
import { deepStrictEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openInput } from "sluice/node";
import { runSession } from "../adapters/cli/run-session.ts";
import type { Step } from "../adapters/cli/session-types.ts";

const WORDS_PER_OBSERVATION = 4;
const CHUNK = 256 * 1024;
const MIRRORED = 64 * CHUNK;
const MIRRORS = 4;

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

const DRIVERS: ReadonlyMap<string, readonly string[]> = new Map([
  ["typescript", [process.execPath, "--conditions=sluice:source", here("driver.ts")]],
  ["python", ["python3", here("driver.py")]],
]);

/** Has a file split into words, and compares every word and the digest with the file itself. */
function tokenise(file: string): Step {
  const content = readFileSync(file);
  const words = content
    .toString("utf8")
    .split(/[ \t\n\v\f\r]+/u)
    .filter((word) => word !== "");
  const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
  let seen = 0;
  let digests = 0;
  return {
    operation: "tokenise",
    input: () => openInput({ kind: "pipe", value: file }),
    total: Math.ceil(words.length / WORDS_PER_OBSERVATION) + 1,
    onObservation({ kind, payload }) {
      if (kind === "words" && Array.isArray(payload)) {
        deepStrictEqual(payload, words.slice(seen, seen + payload.length), "words differ");
        seen += payload.length;
      } else {
        deepStrictEqual(payload, { bytes: content.length, words: words.length, digest });
        digests += 1;
      }
    },
    check: () =>
      seen === words.length && digests === 1
        ? undefined
        : `it reported ${seen} of ${words.length} words and ${digests} digests`,
  };
}

/** Has 16 MiB sent back four times over the companion channel, and compares the digests with our own. */
function mirror(): Step {
  const hash = createHash("sha256");
  let seen = 0;
  let digest = "";
  return {
    operation: "mirror",
    input: async function* () {
      for (let number = 0; number < MIRRORED / CHUNK; number += 1) {
        const chunk = pattern(number);
        hash.update(chunk);
        yield chunk;
      }
      digest = `sha256:${hash.digest("hex")}`;
    },
    total: MIRRORS,
    onData(data) {
      deepStrictEqual({ bytes: data.bytes, digest: data.digest }, { bytes: MIRRORED, digest });
      seen += 1;
    },
    check: ({ data }) =>
      seen === MIRRORS && data.out === MIRRORED
        ? undefined
        : `${seen} of ${MIRRORS} streams came back whole, and ${data.out} of ${MIRRORED} bytes went out`,
  };
}

/** A chunk of bytes that is the same for the same number, and unlike every other. */
function pattern(number: number): Uint8Array {
  const words = new Uint32Array(CHUNK / 4);
  for (let index = 0; index < words.length; index += 1)
    words[index] = Math.imul(number * words.length + index, 0x9e3779b1);
  return new Uint8Array(words.buffer);
}

const STEPS: readonly Step[] = [
  tokenise(here("../package-lock.json")),
  mirror(),
  { operation: "count", cancelAfter: 300, expect: ["cancelled"] },
  { operation: "fail", expect: ["errored"] },
];

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { driver: { type: "string", default: "typescript" } } });
  const command = DRIVERS.get(values.driver);
  if (command === undefined)
    throw new TypeError(`Unknown driver ${values.driver}: use ${[...DRIVERS.keys()].join(" or ")}`);
  const request = { command, steps: STEPS, permissions: "requested" } as const;
  const { exitCode } = await runSession(request, process);
  if (exitCode === 0) process.stdout.write("\nEverything came out as expected.\n");
  return exitCode;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`host: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
