import { expect, test } from "vitest";
import { isSluiceError, SluiceError } from "../../lib/errors.ts";
import { DriverExited } from "../../lib/process/driver-exited.ts";
import { StderrTail } from "../../lib/process/stderr-tail.ts";

async function tailOf(text: string): Promise<StderrTail> {
  const tail = new StderrTail(new Blob([text]).stream());
  await tail.done;
  return tail;
}

const exit = (inFlight: readonly string[]): string =>
  DriverExited.fromStatus({ code: 0, signal: null }, { pid: 7, inFlight }).message;

const redact = (text: string): string => text.replaceAll("hunter22", "***");

test("DriverExited joins exit code, open calls and last words (row 5)", async () => {
  const tail = await tailOf("starting\nno such port\n");
  const error = DriverExited.fromStatus(
    { code: 3, signal: null },
    { pid: 7, tail, inFlight: ["driver.invoke"] },
  );
  expect(error).toBeInstanceOf(SluiceError);
  expect(isSluiceError(error, "driver_exited")).toBe(true);
  expect(error.name).toBe("DriverExited");
  expect(error.message).toBe(
    "Driver exited with code 3 while driver.invoke was in flight; its last words on stderr: starting | no such port",
  );
  expect(error.data).toEqual({
    exitCode: 3,
    signal: null,
    pid: 7,
    inFlight: ["driver.invoke"],
    stderr: "starting\nno such port\n",
  });
});

test("DriverExited names the signal and the host's reason", () => {
  const error = DriverExited.fromStatus(
    { code: null, signal: "SIGKILL" },
    { pid: 7, reason: "start timeout of 200 ms" },
  );
  expect(error.message).toBe("Driver was ended by signal SIGKILL (start timeout of 200 ms)");
  expect(error.data).toMatchObject({
    exitCode: null,
    signal: "SIGKILL",
    reason: "start timeout of 200 ms",
    inFlight: [],
  });
});

test("DriverExited counts the open calls that it does not name", () => {
  expect(exit(["a", "b"])).toBe("Driver exited with code 0 while a and b were in flight");
  expect(exit(["a", "b", "c", "d", "e"])).toBe(
    "Driver exited with code 0 while a, b, c and 2 more were in flight",
  );
});

test("DriverExited keeps at most 2 KiB of stderr and 16 names", async () => {
  const tail = await tailOf("0123456789\n".repeat(1000));
  const inFlight = Array.from({ length: 40 }, () => "m");
  const { data, message } = DriverExited.fromStatus(
    { code: 1, signal: null },
    { pid: 7, tail, inFlight },
  );
  expect(data.stderr.length).toBeLessThanOrEqual(2048);
  expect(data.stderr).toMatch(/^0123456789\n/);
  expect(data.inFlight).toHaveLength(16);
  expect(message.length).toBeLessThan(400);
});

test("DriverExited shows the error, not the stack below it", async () => {
  const tail = await tailOf(
    "file:1\nthrow x\n^\n\nError: no config\n    at run (a.js:1:2)\n\nNode.js v24.0.0\n",
  );
  const { message } = DriverExited.fromStatus({ code: 1, signal: null }, { pid: 7, tail });
  expect(message).toMatch(/: file:1 \| throw x \| Error: no config$/);
});

test("DriverExited redacts stderr in message and data, and keeps the cause", async () => {
  const tail = await tailOf("token=hunter22\n");
  const cause = new Error("pipe");
  const error = DriverExited.fromStatus({ code: 1, signal: null }, { pid: 7, tail, redact, cause });
  expect(`${error.message}${error.data.stderr}`).not.toContain("hunter22");
  expect(error.cause).toBe(cause);
});
