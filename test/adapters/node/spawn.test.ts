import { tmpdir } from "node:os";
import { realpathSync } from "node:fs";
import { expect, test } from "vitest";
import { spawn } from "../../../adapters/node/spawn.ts";
import { DriverExited } from "../../../lib/process/driver-exited.ts";
import { StderrTail } from "../../../lib/process/stderr-tail.ts";
import { isAlive } from "../../support/processes.ts";
import { runtime } from "../../support/runtime-name.ts";
import { encode, firstLine, linuxOnly, start, text } from "./start.ts";

linuxOnly();

test("spawn() gives a child whose stdin, stdout and exit code work", async () => {
  const child = await start(["cat"]);
  const writer = child.writable.getWriter();
  await writer.write(encode("hello"));
  await writer.close();
  expect(await text(child.readable)).toBe("hello");
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(isAlive(child.pid)).toBe(false);
});

test("spawn() reports exit code and stderr of a driver that fails (row 5)", async () => {
  const child = await start(["sh", "-c", "echo no such port >&2; exit 3"]);
  const tail = new StderrTail(child.stderr);
  const status = await child.exited;
  await tail.done;
  const error = DriverExited.fromStatus(status, {
    pid: child.pid,
    tail,
    inFlight: ["driver.invoke"],
  });
  expect(error.message).toBe(
    "Driver exited with code 3 while driver.invoke was in flight; its last words on stderr: no such port",
  );
});

test("spawn() reports the signal that ended a child", async () => {
  const child = await start(["sh", "-c", "kill -KILL $$"]);
  expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
});

test("spawn() makes the child the leader of its own group and session", async () => {
  const child = await start(["sh", "-c", "cut -d' ' -f5,6 /proc/$$/stat; cat"]);
  expect(await firstLine(child.readable)).toBe(`${child.pid} ${child.pid}`);
});

test("spawn() gives the child an allow-listed environment with additions (rows 12, 13)", async () => {
  process.env["SLUICE_TEST_SECRET"] = "1";
  process.env["KIT_TEST_SECRET"] = "s3cret";
  process.env["KIT_TEST_EXTRA"] = "extra";
  try {
    const env = { ADDED: "yes", HOME: "/elsewhere", LANG: undefined };
    const child = await start(["env"], { env, inheritEnv: ["KIT_TEST_EXTRA"] });
    const lines = (await text(child.readable)).split("\n");
    expect(lines).toContain("ADDED=yes");
    expect(lines).toContain("HOME=/elsewhere");
    expect(lines).toContain("KIT_TEST_EXTRA=extra");
    expect(lines).toContain(`PATH=${process.env["PATH"]}`);
    expect(lines.filter((line) => /SECRET|^LANG=|^SLUICE_|VITEST|NODE_ENV/.test(line))).toEqual([]);
  } finally {
    for (const name of ["SLUICE_TEST_SECRET", "KIT_TEST_SECRET", "KIT_TEST_EXTRA"])
      delete process.env[name];
  }
});

test("spawn() starts the child in cwd", async () => {
  const child = await start(["pwd"], { cwd: tmpdir() });
  expect((await text(child.readable)).trim()).toBe(realpathSync(tmpdir()));
});

test("spawn() passes arguments to no shell", async () => {
  const child = await start(["printf", "%s|", "$HOME", "a b", "*"]);
  expect(await text(child.readable)).toBe("$HOME|a b|*|");
});

test("spawn() loses nothing of a child that exited before it was read", async () => {
  const child = await start(["sh", "-c", "head -c 60000 /dev/zero; echo end >&2"]);
  await child.exited;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await text(child.readable)).length).toBe(60_000);
  expect(await text(child.stderr)).toBe("end\n");
});

test("spawn() opens a two-way channel as descriptor 3, whose halves end on their own", async () => {
  const child = await start(["sh", "-c", "cat <&3 >&3; echo done >&3; exec 3>&-; cat"], {
    channel: true,
  });
  const writer = child.channel!.writable.getWriter();
  await writer.write(encode("over three\n"));
  await writer.close();
  expect(await text(child.channel!.readable)).toBe("over three\ndone\n");
  expect(isAlive(child.pid)).toBe(true);
});

test.skipIf(runtime === "deno")(
  "spawn() opens no descriptor 3 unasked (Deno passes on one that the test runner gave it)",
  async () => {
    const child = await start(["sh", "-c", "ls /proc/$$/fd"]);
    expect(child.channel).toBeUndefined();
    expect((await text(child.readable)).split("\n").filter((fd) => fd === "3")).toEqual([]);
  },
);

test.each([[[]], [[""]], [["a\0b"]]])("spawn() refuses the command %j", async (command) => {
  await expect(spawn(command)).rejects.toThrow(TypeError);
});

test("kill() is false once nothing of the group is left (row 43)", async () => {
  const child = await start(["true"]);
  await child.exited;
  expect(child.kill("SIGKILL")).toBe(false);
});
