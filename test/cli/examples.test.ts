import { spawn } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { reap } from "../support/processes.ts";
import { DRIVERS, fromSource, nodePath, skipReason, start } from "./support/cli.ts";
import { linesOf } from "./support/lines.ts";

const TIMEOUT = 30_000;

describe.skipIf(nodePath === undefined)(`examples/host.ts${skipReason}`, () => {
  test.each(Object.keys(DRIVERS))(
    "checks what the driver says and exits 0: %s",
    { timeout: TIMEOUT },
    async (name) => {
      const { code, stdout } = await start(fromSource("examples/host.ts", "--driver", name))
        .finished;
      expect(code).toBe(0);
      expect(stdout).toMatch(/tokenise: completed: [\d,]+ observations/);
      expect(stdout).toMatch(
        /mirror: completed: 4 obs.*; data 67\.11 MB in, 16\.78 MB out, \d+ MB\/s/,
      );
      expect(stdout).toContain("count: cancelled, as expected");
      expect(stdout).toContain("fail: errored, as expected");
      expect(stdout).toMatch(/Everything came out as expected\.\n$/);
    },
  );

  test("exits 2 for a driver that it does not have", { timeout: TIMEOUT }, async () => {
    const { code, stderr } = await start(fromSource("examples/host.ts", "--driver", "cobol"))
      .finished;
    expect(code).toBe(2);
    expect(stderr).toBe("host: Unknown driver cobol: use typescript or python\n");
  });
});

/** Speaks with a driver by hand, frame by frame. */
class Dialogue {
  readonly exited: Promise<number | null>;
  readonly #child;
  readonly #lines: AsyncIterator<string>;
  #stderr = "";
  #id = 0;

  constructor([file = "", ...args]: readonly string[]) {
    this.#child = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"] });
    const { pid, stdout, stderr, stdin } = this.#child;
    onTestFinished(() => reap(pid));
    stdin.on("error", () => {});
    stderr.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
    // What nobody reads would keep the pipe open, and the child from being closed.
    this.#child.once("exit", () => stdout.destroy());
    this.exited = new Promise((resolve) => this.#child.once("close", resolve));
    this.#lines = linesOf(stdout.setEncoding("utf8"))[Symbol.asyncIterator]();
  }

  get stderr(): string {
    return this.#stderr;
  }

  write(text: string): void {
    this.#child.stdin.write(text);
  }

  closeStdin(): void {
    this.#child.stdin.end();
  }

  closeStdout(): void {
    this.#child.stdout.destroy();
  }

  async next(): Promise<Record<string, unknown>> {
    return JSON.parse((await this.#lines.next()).value as string) as Record<string, unknown>;
  }

  async call(method: string, params: object = {}): Promise<Record<string, unknown>> {
    this.#id += 1;
    this.write(`${JSON.stringify({ jsonrpc: "2.0", id: this.#id, method, params })}\n`);
    return await this.next();
  }

  async prepare(): Promise<void> {
    await this.call("driver.hello", { core_version_range: { minimum: "1.0", maximum: "1.5" } });
    await this.call("driver.prepare", { approved_permissions: ["read-input"] });
  }

  async invoke(operation: string): Promise<Record<string, unknown>> {
    return await this.call("driver.invoke", {
      invocation_id: "i",
      attempt_id: "a",
      operation,
      ephemeral_exact_input_handle: { kind: "pipe", value: "/dev/null" },
    });
  }
}

const refusal = (errorClass: string): object => ({ error: { data: { class: errorClass } } });

describe("examples/driver.py", () => {
  test(
    "ends on the end of stdin although an operation is under way",
    { timeout: TIMEOUT },
    async () => {
      const dialogue = new Dialogue(DRIVERS.python);
      await dialogue.prepare();
      expect(await dialogue.invoke("count")).toMatchObject({ result: {} });
      expect(await dialogue.next()).toMatchObject({ params: { sequence: 1, payload: { n: 1 } } });
      dialogue.closeStdin();
      expect(await dialogue.exited).toBe(0);
      expect(dialogue.stderr).toBe("");
    },
  );

  test("ends quietly when nobody reads its stdout any more", { timeout: TIMEOUT }, async () => {
    const dialogue = new Dialogue(DRIVERS.python);
    await dialogue.prepare();
    await dialogue.invoke("count");
    dialogue.closeStdout();
    dialogue.write('{"id":9,"method":"driver.capabilities"}\n');
    expect(await dialogue.exited).toBe(0);
    expect(dialogue.stderr).toBe("");
  });

  test("answers what it refuses with a class", { timeout: TIMEOUT }, async () => {
    const dialogue = new Dialogue(DRIVERS.python);
    const range = (version: string): object => ({
      core_version_range: { minimum: version, maximum: version },
    });
    expect(await dialogue.invoke("count")).toMatchObject(refusal("invalid_state"));
    expect(await dialogue.call("driver.hello", range("2.0.0"))).toMatchObject(
      refusal("unsupported_rpc_version"),
    );
    expect(await dialogue.call("driver.hello", {})).toMatchObject(refusal("invalid_request"));
    expect(await dialogue.call("driver.serve")).toMatchObject(refusal("invalid_request"));
    await dialogue.prepare();
    expect(await dialogue.invoke("nope")).toMatchObject(refusal("capability_mismatch"));
    expect(await dialogue.call("driver.cancel", { invocation_id: "i" })).toMatchObject(
      refusal("invalid_request"),
    );
    expect(await dialogue.call("driver.shutdown")).toMatchObject({ result: {} });
    expect(await dialogue.exited).toBe(0);
  });

  test.each([
    ["no JSON", "hello\n"],
    ["a member twice", '{"id":1,"id":2,"method":"driver.hello"}\n'],
    ["too long a line", `${"x".repeat(2 ** 20 + 2)}\n`],
  ])("exits 1 for a frame that is no frame: %s", { timeout: TIMEOUT }, async (_name, frame) => {
    const dialogue = new Dialogue(DRIVERS.python);
    dialogue.write(frame);
    expect(await dialogue.exited).toBe(1);
    expect(dialogue.stderr).toContain("Error: ");
  });
});
