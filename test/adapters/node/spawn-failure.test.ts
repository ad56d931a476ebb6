import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spawn } from "../../../adapters/node/spawn.ts";
import type { SpawnOptions } from "../../../adapters/node/spawn.ts";
import { linuxOnly } from "./start.ts";

linuxOnly();

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "spawn-failure-"));
  writeFileSync(join(folder, "plain.txt"), "text");
  writeFileSync(join(folder, "odd.sh"), "#!/no/such/interpreter\n");
  chmodSync(join(folder, "odd.sh"), 0o755);
});

afterAll(() => rmSync(folder, { recursive: true }));

async function failure(command: readonly string[], options?: SpawnOptions) {
  return spawn(command, options).then(
    () => expect.fail("it started"),
    (error: unknown) => error,
  );
}

test("spawn() says that a command was not found", async () => {
  expect(await failure(["no-such-command-here", "--flag"])).toMatchObject({
    code: "spawn_failed",
    data: { reason: "command_not_found", errno: "ENOENT", command: "no-such-command-here --flag" },
    message: expect.stringContaining("was not found: check its spelling and the PATH"),
    cause: { code: "ENOENT" },
  });
});

test("spawn() says that the working directory is missing or none", async () => {
  const missing = await failure(["true"], { cwd: join(folder, "gone") });
  expect(missing).toMatchObject({ code: "spawn_failed", data: { reason: "cwd_missing" } });
  const file = await failure(["true"], { cwd: join(folder, "plain.txt") });
  expect(file).toMatchObject({ code: "spawn_failed", data: { reason: "cwd_not_directory" } });
});

test("spawn() says that a file may not be executed", async () => {
  for (const file of [join(folder, "plain.txt"), folder]) {
    expect(await failure([file])).toMatchObject({
      code: "spawn_failed",
      data: { reason: "not_executable" },
    });
  }
});

test("spawn() says that the interpreter of a script is missing", async () => {
  for (const [file, options] of [
    [join(folder, "odd.sh")],
    ["./odd.sh", { cwd: folder }],
  ] as const) {
    expect(await failure([file], options)).toMatchObject({
      data: { reason: "interpreter_not_found" },
    });
  }
});

test("spawn() shows the command cut short and no value of the environment", async () => {
  const error = await failure(["no-such-command-here", "x".repeat(5000)], {
    env: { TOKEN: "s3cret" },
  });
  expect(JSON.stringify(error) + String(error)).not.toContain("s3cret");
  expect(String(error).length).toBeLessThan(500);
});
