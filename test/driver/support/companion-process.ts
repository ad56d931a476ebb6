import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, onTestFinished } from "vitest";
import { spawnDriver, type SpawnDriverOptions } from "../../../adapters/node/spawn-driver.ts";
import type { Driver, Observation, Run } from "../../../lib/driver/mod.ts";
import { waitGone } from "../../support/processes.ts";
import { sameRuntime } from "../../support/runtime-name.ts";
import { PLAN } from "./frames.ts";
import { LADDER } from "./process.ts";

const pathOf = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));

/** The driver on the kit: as many streams as it likes at a time. */
export const KIT: readonly string[] = sameRuntime(pathOf("fixtures/companion-driver.ts"));
/** The driver in Python: one stream at a time, without credit. */
export const PYTHON: readonly string[] = ["python3", pathOf("../../examples/driver.py")];
/** A driver in Python without a companion channel. */
export const PLAIN: readonly string[] = ["python3", pathOf("fixtures/raw_driver.py"), "plain"];

/** A command in a wrapper that closes descriptor 3. */
export function closing(command: readonly string[]): string[] {
  return ["sh", "-c", 'exec 3>&-; exec "$0" "$@"', ...command];
}

/** A command in a wrapper that uses the companion's address itself first. */
export function junk(mode: "wrong-token" | "junk", command: readonly string[]): string[] {
  return ["python3", pathOf("fixtures/junk_wrapper.py"), mode, ...command];
}

/** Skips the tests of a file, visibly, where there is no Linux under them. */
export function linuxOnly(): void {
  beforeEach(({ skip }) =>
    skip(process.platform !== "linux", "needs Linux: sh, Unix sockets and /proc"),
  );
}

/** Makes a folder the place of temporary files; when the test ends it must be empty. */
export function temporaryFiles(): string {
  const before = process.env["TMPDIR"];
  const folder = mkdtempSync(join(tmpdir(), "companion-test-"));
  process.env["TMPDIR"] = folder;
  onTestFinished(() => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    const left = readdirSync(folder);
    rmSync(folder, { recursive: true });
    expect(left).toEqual([]);
  });
  return folder;
}

/** A driver that was started. */
export interface Hosted {
  readonly starting: Promise<Driver>;
  /** All that it printed to stderr. */
  readonly stderr: () => string;
  /** Where its temporary files are. */
  readonly folder: string;
}

/** Starts a driver; when the test ends, it and its temporary files must be gone. */
export function host(command: readonly string[], options: SpawnDriverOptions = {}): Hosted {
  const folder = temporaryFiles();
  const decoder = new TextDecoder();
  let text = "";
  let pid: number | undefined;
  const starting = spawnDriver(command, {
    ...LADDER,
    stdinTimeout: 2_000,
    onSpawn: (child) => void (pid = child.pid),
    onStderr: (chunk) => void (text += decoder.decode(chunk, { stream: true })),
    ...options,
  });
  starting.catch(() => {});
  onTestFinished(async () => {
    await starting.then(
      (driver) => driver.close(),
      () => {},
    );
    if (pid !== undefined) expect(await waitGone(pid)).toBe(true);
  });
  return { starting, stderr: () => text, folder };
}

/** Starts a driver up to its prepare. */
export async function prepared(
  command: readonly string[],
  options: SpawnDriverOptions = {},
): Promise<{ readonly driver: Driver } & Omit<Hosted, "starting">> {
  const { starting, stderr, folder } = host(command, options);
  const driver = await starting;
  await driver.prepare({ ...PLAN, permissions: [...driver.requestedPermissions] });
  return { driver, stderr, folder };
}

/** Whether a driver has the channel. */
export function hasChannel({ capabilities }: Driver): boolean {
  return capabilities.protocols.includes("sluice.companion.v1");
}

/** Bytes that no two places have alike. */
export function pattern(length: number): Uint8Array {
  const words = new Uint32Array(length / 4);
  for (let index = 0; index < words.length; index += 1) words[index] = Math.imul(index, 0x9e3779b1);
  return new Uint8Array(words.buffer);
}

/** The digest of bytes, by other code than the kit's. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** What came of one data stream, hashed by other code than the kit's. */
export interface Whole {
  readonly length: number;
  readonly digest: string;
}

/** Reads the stream of an observation to its end. */
export async function whole({ data }: Observation): Promise<Whole> {
  const hash = createHash("sha256");
  let length = 0;
  for await (const chunk of data!) {
    hash.update(chunk);
    length += chunk.length;
  }
  const digest = `sha256:${hash.digest("hex")}`;
  expect({ length: data!.length, digest: data!.digest }).toEqual({ length, digest });
  return { length, digest };
}

/** Reads all streams of a run side by side. */
export async function wholes(run: AsyncIterable<Observation>): Promise<Whole[]> {
  const reading: Promise<Whole>[] = [];
  for await (const observation of run) {
    const read = whole(observation);
    read.catch(() => {});
    reading.push(read);
  }
  return await Promise.all(reading);
}

/** The payloads of a run's observations. */
export async function payloads(run: Run): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const { payload } of run) seen.push(payload);
  return seen;
}
