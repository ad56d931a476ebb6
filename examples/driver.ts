/**
 * A driver on the kit: tokenises its input, sends it back, counts to no end, and fails on demand.
 *
 * Run it under a host: `sluice run --grant-all --input FILE --operation tokenise -- node examples/driver.ts`.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ErrorClass, ProtocolError, type Invocation } from "sluice/driver";
import { createSha256, sha256Digest } from "sluice/json";
import { serveDriver } from "sluice/node";

const WORDS_PER_OBSERVATION = 4;
/** Four words of this length stay below the longest frame, however they are escaped. */
const MAX_WORD = 16 * 1024;
/** What `mirror` holds at most. */
const MAX_MIRRORED = 64 * 1024 * 1024;
const WHITE_SPACE = /[ \t\n\v\f\r]+/u;
const READ_INPUT = "read-input";

/** Splits the input into words, a few an observation, and ends with its digest. */
async function tokenise(invocation: Invocation): Promise<void> {
  const { input, observe } = invocation;
  const hash = createSha256();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let bytes = 0;
  let words = 0;
  let rest = "";
  for await (const chunk of input) {
    hash.update(chunk);
    bytes += chunk.length;
    // A chunk may end within a character, which the decoder keeps, or within a word, kept here.
    const pieces = (rest + decoder.decode(chunk, { stream: true })).split(WHITE_SPACE);
    rest = pieces.pop() ?? "";
    words += await report(pieces, invocation);
    checkLength(rest);
  }
  words += await report([rest + decoder.decode()], invocation);
  await observe("input.digest", {
    payload: { bytes, words, digest: `sha256:${hash.digestHex()}` },
  });
}

async function report(pieces: readonly string[], invocation: Invocation): Promise<number> {
  const words = pieces.filter((piece) => piece !== "");
  words.forEach(checkLength);
  for (let start = 0; start < words.length; start += WORDS_PER_OBSERVATION) {
    // Where an operation passes again and again it heeds a cancel.
    invocation.signal.throwIfAborted();
    await invocation.observe("words", {
      payload: words.slice(start, start + WORDS_PER_OBSERVATION),
    });
  }
  return words.length;
}

function checkLength(word: string): void {
  if (word.length > MAX_WORD) throw new Error(`A word is longer than ${MAX_WORD} characters`);
}

/** Sends the input back four times at once, as streams of the companion channel. */
async function mirror({ input, observe }: Invocation): Promise<void> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > MAX_MIRRORED) throw new Error(`The input is longer than ${MAX_MIRRORED} bytes`);
    chunks.push(chunk);
  }
  // Each stream goes at the pace of its reader, and none waits for another.
  const streams = [1, 2, 3, 4].map(() => observe("mirror", { data: each(chunks) }));
  await Promise.all(streams);
}

async function* each(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** Counts until it is cancelled. */
async function count({ signal, observe }: Invocation): Promise<void> {
  for (let n = 1; ; n++) {
    await observe("tick", { payload: { n } });
    await sleep(20, undefined, { signal });
  }
}

/** Fails, so that a host can see what that looks like. */
async function fail({ observe }: Invocation): Promise<void> {
  await observe("progress", { payload: { step: "about to fail" } });
  throw new Error("This operation always fails");
}

const operations: Readonly<Record<string, (invocation: Invocation) => Promise<void>>> = {
  tokenise,
  mirror,
  count,
  fail,
};

/** Operations that read their input, and therefore need the permission to. */
const READERS: ReadonlySet<string> = new Set(["tokenise", "mirror"]);

async function invoke(invocation: Invocation): Promise<void> {
  const { operation, permissions } = invocation;
  if (READERS.has(operation) && !permissions.includes(READ_INPUT)) {
    throw new ProtocolError(
      ErrorClass.PermissionDenied,
      `${operation} needs the permission ${READ_INPUT}`,
    );
  }
  // The kit refuses an operation that is not listed.
  await operations[operation]!(invocation);
}

await serveDriver({
  identity: {
    name: "example-driver",
    version: "1.0.0",
    artifact_digest: sha256Digest(readFileSync(new URL(import.meta.url))),
  },
  capabilities: { operations: Object.keys(operations) },
  permissions: [READ_INPUT],
  invoke,
});
