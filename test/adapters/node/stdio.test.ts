import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { sameRuntime } from "../../support/runtime-name.ts";
import { encode, linuxOnly, start, text } from "./start.ts";

linuxOnly();

const program = fileURLToPath(new URL("programs/driver-writes.ts", import.meta.url));

async function run(mode: string, input?: string) {
  const driver = await start(sameRuntime(program, mode));
  const writer = driver.writable.getWriter();
  const feeding = (async () => {
    if (input === undefined) return;
    await writer.write(encode(input));
    await writer.close();
  })();
  const [stdout, stderr, status] = await Promise.all([
    text(driver.readable),
    text(driver.stderr),
    driver.exited,
  ]);
  await feeding;
  return { stdout, stderr, status };
}

test("stdio() delivers a frame of 300 KB whole before process.exit() (row 10)", async () => {
  const { stdout, status } = await run("large");
  expect(stdout.length).toBe(300_000);
  expect(status.code).toBe(0);
});

test("stdio() delivers a large frame whole to a host that reads late (row 10)", async () => {
  const driver = await start(sameRuntime(program, "large"));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect((await text(driver.readable)).length).toBe(300_000);
});

test("stdio() keeps console and plain writes out of stdout (row 4)", async () => {
  const { stdout, stderr } = await run("noisy");
  expect(stdout).toBe("[frame1][frame2]");
  for (const word of ["log", "info", "debug", "dir", "plain", "error"])
    expect(stderr).toContain(word);
});

test("stdio() leaves console alone with guard: false", async () => {
  const { stdout, stderr } = await run("unguarded");
  expect(stdout).toContain("log\n");
  expect(stdout).toContain("plain\n");
  expect(stderr).toContain("error");
});

test("stdio() gives console, stdout and the process back on release()", async () => {
  const { stdout, stderr, status } = await run("release");
  expect(stdout).toBe("[frame]log\nplain\n");
  expect(stderr).toBe("");
  expect(status.code).toBe(0);
});

test("stdio() reads stdin to its end, and the process then ends by itself (row 1)", async () => {
  const input = "0123456789".repeat(30_000);
  const { stdout, stderr, status } = await run("echo", input);
  expect(stdout === input).toBe(true);
  expect(stderr).toBe("end of input\n");
  expect(status.code).toBe(0);
});

test("stdio() lets the process end after readable was cancelled, with stdin still open", async () => {
  const { stdout, status } = await run("cancel");
  expect(stdout).toBe("cancelled");
  expect(status.code).toBe(0);
});

test("stdio() rejects a write to a host that is gone and does not crash (row 8)", async () => {
  const driver = await start(sameRuntime(program, "gone"));
  await driver.readable.cancel();
  expect(await text(driver.stderr)).toBe("broken_pipe\n");
  expect((await driver.exited).code).toBe(0);
});

test("stdio() is held by one at a time", async () => {
  const { stderr, status } = await run("twice");
  expect(stderr).toBe("stdio_in_use\n");
  expect(status.code).toBe(0);
});
