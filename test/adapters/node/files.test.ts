import { execFileSync } from "node:child_process";
import {
  createWriteStream,
  mkdtempSync,
  openSync,
  closeSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { once } from "node:events";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openInput } from "../../../adapters/node/files.ts";
import { runtime } from "../../support/runtime-name.ts";
import { linuxOnly, text } from "./start.ts";

linuxOnly();

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "open-input-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

function fifo(name: string): string {
  const path = join(folder, name);
  execFileSync("mkfifo", [path]);
  return path;
}

async function serve(name: string, answer: (server: Server) => void): Promise<string> {
  const path = join(folder, name);
  const server = createServer();
  onTestFinished(() => void server.close());
  answer(server);
  server.listen(path);
  await once(server, "listening");
  return path;
}

test("openInput() reads a file", async () => {
  const value = join(folder, "file");
  writeFileSync(value, "a".repeat(200_000));
  expect(await text(openInput({ kind: "pipe", value }))).toBe("a".repeat(200_000));
});

test("openInput() takes /dev/null for an empty input", async () => {
  expect(await text(openInput({ kind: "pipe", value: "/dev/null" }))).toBe("");
});

test("openInput() reads an endless device only as asked", async () => {
  const reader = openInput({ kind: "pipe", value: "/dev/zero" }).getReader();
  const first = await reader.read();
  const second = await reader.read();
  await reader.cancel();
  expect([first.value?.length, second.value?.length]).toEqual([65_536, 65_536]);
  expect(first.value?.buffer === second.value?.buffer).toBe(false);
});

test("openInput() reads a FIFO whose writer comes later", async () => {
  const value = fifo("late");
  const reading = text(openInput({ kind: "pipe", value }));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const writer = createWriteStream(value);
  writer.write("one ");
  await new Promise((resolve) => setTimeout(resolve, 50));
  writer.end("two");
  expect(await reading).toBe("one two");
});

test.skipIf(runtime !== "node")(
  "openInput() can be cancelled while a FIFO has no writer (elsewhere a thread waits on)",
  async () => {
    const value = fifo("never");
    const reader = openInput({ kind: "pipe", value }).getReader();
    const read = reader.read();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await reader.cancel();
    expect((await read).done).toBe(true);
    // No reader is left: only then does a writer that will not wait fail.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(() => closeSync(openSync(value, 0o4001))).toThrow(/ENXIO/);
  },
);

test("openInput() opens nothing before the first read", async () => {
  let connections = 0;
  const value = await serve(
    "lazy",
    (server) => void server.on("connection", () => (connections += 1)),
  );
  const stream = openInput({ kind: "socket", value });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(connections).toBe(0);
  await stream.cancel();
});

test("openInput() reads a socket to its end", async () => {
  const value = await serve(
    "socket",
    (server) => void server.on("connection", (peer) => peer.end("over socket")),
  );
  expect(await text(openInput({ kind: "socket", value }))).toBe("over socket");
});

test.each(["pipe", "socket"])(
  "openInput() of kind %s rejects with input_unavailable, without the path",
  async (kind) => {
    const value = join(folder, "s3cret-path");
    const error: unknown = await text(openInput({ kind, value })).then(
      () => expect.fail("it opened"),
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      code: "input_unavailable",
      data: { kind, errno: "ENOENT" },
      cause: { code: "ENOENT" },
    });
    // Every property, message and stack, down the causes.
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("s3cret");
  },
);

test("openInput() rejects a folder with input_unavailable", async () => {
  await expect(text(openInput({ kind: "pipe", value: folder }))).rejects.toMatchObject({
    code: "input_unavailable",
    data: { errno: "EISDIR" },
  });
});

test("openInput() refuses other kinds with input_unsupported", () => {
  expect(() => openInput({ kind: "inline", value: "s3cret" })).toThrow(
    expect.objectContaining({ code: "input_unsupported", data: { kind: "inline" } }),
  );
});
