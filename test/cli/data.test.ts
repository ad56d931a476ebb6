import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createDataFile } from "../../adapters/cli/data-file.ts";
import { runSession } from "../../adapters/cli/run-session.ts";
import type { DataResult } from "../../adapters/cli/data-sink.ts";
import type { SessionRequest } from "../../adapters/cli/session-types.ts";
import { cli, DRIVERS, eventsOf, nodePath, pathOf, skipReason } from "./support/cli.ts";
import { outputs } from "./support/streams.ts";

const TIMEOUT = 30_000;
const FILE = pathOf("package-lock.json");
const CONTENT = readFileSync(FILE);
const DIGEST = `sha256:${createHash("sha256").update(CONTENT).digest("hex")}`;
const MIRROR = ["--grant-all", "--input", FILE, "--operation", "mirror"];

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "cli-data-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

describe.skipIf(nodePath === undefined)(`sluice run and data streams${skipReason}`, () => {
  test.each(Object.entries(DRIVERS))(
    "counts them, and names their digests in JSON: %s",
    { timeout: TIMEOUT },
    async (_name, command) => {
      const { code, stdout } = await cli("run", "--json", ...MIRROR, "--", ...command);
      expect(code).toBe(0);
      const events = eventsOf(stdout);
      const data = events.filter(({ type }) => type === "data");
      expect(new Set(data.map(({ sequence }) => sequence))).toEqual(new Set([1, 2, 3, 4]));
      for (const event of data) {
        expect(event).toEqual({
          type: "data",
          operation: "mirror",
          sequence: event["sequence"],
          stream_id: expect.any(String),
          bytes: CONTENT.length,
          digest: DIGEST,
        });
      }
      const figures = { streams: 4, in: 4 * CONTENT.length, out: CONTENT.length };
      expect(events.at(-2)).toMatchObject({ type: "completed", data: figures });
      expect(events.at(-1)).toMatchObject({ type: "end", data: figures });
    },
  );

  test("shows them in the table, and each with --verbose", { timeout: TIMEOUT }, async () => {
    const { stdout } = await cli("run", "--verbose", ...MIRROR, "--", ...DRIVERS.python);
    expect(stdout).toMatch(/^mirror #1 data mirror-1: [\d.]+ MB, sha256:[0-9a-f]{64}$/m);
    expect(stdout).toMatch(/^Data {10}[\d.]+ MB in, [\d.]+ MB out, [\d.]+ MB\/s$/m);
  });

  test("--data-dir keeps each in a file of its own", { timeout: TIMEOUT }, async () => {
    const path = folder();
    const args = [...MIRROR, "--operation", "mirror", "--data-dir", path];
    const { code, stdout } = await cli("run", "--json", ...args, "--", ...DRIVERS.python);
    expect(code).toBe(0);
    const names = readdirSync(path).toSorted();
    expect(names).toEqual(
      [1, 2, 3, 4].flatMap((n) => [`mirror-${n}-mirror-${n}`, `mirror-${n}-mirror-${n}-2`]),
    );
    for (const name of names) {
      expect(readFileSync(join(path, name)).equals(CONTENT)).toBe(true);
      expect(statSync(join(path, name)).mode & 0o777).toBe(0o600);
    }
    const files = eventsOf(stdout).flatMap(({ file }) => (typeof file === "string" ? [file] : []));
    expect(files.map((file) => basename(file)).toSorted()).toEqual(names);
  });

  test("a driver without a channel still gets its --input", { timeout: TIMEOUT }, async () => {
    const args = ["--grant-all", "--input", FILE, "--operation", "tokenise", "--companion", "off"];
    const { code, stdout } = await cli("run", "--json", ...args, "--", ...DRIVERS.python);
    expect(code).toBe(0);
    const observations = eventsOf(stdout).filter(({ type }) => type === "observation");
    expect(observations.at(-1)).toMatchObject({ payload: { digest: DIGEST } });
  });

  test.each(["fd", "unix", "tcp"])(
    "--companion %s reaches a driver, --input-handle names its input",
    { timeout: TIMEOUT },
    async (way) => {
      const input = ["--grant-all", "--input-handle", `pipe:${FILE}`, "--operation", "mirror"];
      const args = ["--companion", way, ...input];
      const { code, stdout } = await cli("run", "--json", ...args, "--", ...DRIVERS.python);
      expect(code).toBe(0);
      const figures = { streams: 4, in: 4 * CONTENT.length, out: 0 };
      expect(eventsOf(stdout).at(-1)).toMatchObject({ data: figures });
    },
  );
});

describe("runSession() and data streams", () => {
  const request: SessionRequest = { command: DRIVERS.python, permissions: "requested" };

  test("hands each step what came whole", { timeout: TIMEOUT }, async () => {
    const seen: DataResult[] = [];
    const step = {
      operation: "mirror",
      input: () => new Uint8Array(10),
      onData: (data: DataResult) => void seen.push(data),
    };
    const { exitCode, results } = await runSession(
      { ...request, steps: [step], view: "quiet" },
      outputs(),
    );
    expect(exitCode).toBe(0);
    expect(seen.map(({ bytes, file, error }) => ({ bytes, file, error }))).toEqual(
      Array.from({ length: 4 }, () => ({ bytes: 10, file: undefined, error: undefined })),
    );
    expect(results[0]?.data).toEqual({ streams: 4, in: 40, out: 10 });
  });

  test.each([
    [
      "an input that fails",
      {
        input: async function* () {
          yield new Uint8Array(10);
          throw new Error("the tape broke");
        },
      },
      "the tape broke",
    ],
    [
      "a data handler that throws",
      {
        input: () => new Uint8Array(10),
        onData: () => {
          throw new Error("not what I wanted");
        },
      },
      "not what I wanted",
    ],
  ])("fails a step because of %s", { timeout: TIMEOUT }, async (_name, part, problem) => {
    const steps = [{ operation: "mirror", ...part }];
    const outcome = await runSession({ ...request, steps, view: "quiet" }, outputs());
    expect(outcome).toMatchObject({ exitCode: 1, results: [{ problem }] });
    expect(outcome.end?.exit).toEqual({ code: 0, signal: null });
  });

  test("fails a step whose data cannot be kept", { timeout: TIMEOUT }, async () => {
    const path = folder();
    const dataDir = join(path, "gone");
    const steps = [{ operation: "mirror", input: () => new Uint8Array(10) }];
    const outcome = await runSession({ ...request, steps, dataDir, view: "quiet" }, outputs());
    expect(outcome.exitCode).toBe(1);
    expect(outcome.results[0]?.problem).toMatch(
      /^data stream "mirror-\d" could not be kept: ENOENT/,
    );
    expect(outcome.results[0]?.completion).toMatchObject({ status: "completed" });
  });

  test("does not blame a stream that a cancel cut short", { timeout: TIMEOUT }, async () => {
    const input = async function* (): AsyncGenerator<Uint8Array> {
      for (;;) {
        yield new Uint8Array(100_000);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const steps = [{ operation: "mirror", input, cancelAfter: 100 }];
    const outcome = await runSession({ ...request, steps, view: "quiet" }, outputs());
    expect(outcome).toMatchObject({ exitCode: 0, results: [{ problem: undefined }] });
  });
});

describe("createDataFile()", () => {
  const name = (streamId: string, operation = "op"): Parameters<typeof createDataFile>[1] => ({
    operation,
    sequence: 7,
    streamId,
  });

  test.each([
    ["../../etc/passwd", "op-7-__.._etc_passwd"],
    ["/etc/passwd", "op-7-_etc_passwd"],
    ["..", "op-7-_"],
    ["a\0b\n\u202ec", "op-7-a_b__c"],
    ["name.txt", "op-7-name.txt"],
    ["x".repeat(300), `op-7-${"x".repeat(64)}`],
    ["", "op-7-"],
  ])("stays in its folder for the stream %j", async (streamId, expected) => {
    const path = folder();
    const file = await createDataFile(path, name(streamId));
    await file.handle.close();
    expect(readdirSync(path)).toEqual([expected]);
    expect(file.path).toBe(join(path, expected));
  });

  test("hides no file behind an operation's dots", async () => {
    const path = folder();
    await (await createDataFile(path, name("s", "../.op"))).handle.close();
    expect(readdirSync(path)).toEqual(["__.op-7-s"]);
  });

  test("overwrites nothing and follows no link", async () => {
    const path = folder();
    const target = join(path, "target");
    mkdirSync(join(path, "op-7-s-2"));
    symlinkSync(target, join(path, "op-7-s"));
    writeFileSync(join(path, "op-7-s-3"), "mine");
    const file = await createDataFile(path, name("s"));
    await file.handle.close();
    expect(basename(file.path)).toBe("op-7-s-4");
    expect(readdirSync(path)).not.toContain("target");
    expect(readFileSync(join(path, "op-7-s-3"), "utf8")).toBe("mine");
  });
});
