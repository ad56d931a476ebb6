import { describe, expect, test } from "vitest";
import { isAlive } from "../support/processes.ts";
import {
  cli,
  driverPid,
  DRIVERS,
  eventsOf,
  nodePath,
  rawDriver,
  skipReason,
} from "./support/cli.ts";

const TIMEOUT = 30_000;
const TOKENISE = ["--grant-all", "--input", "package.json", "--operation", "tokenise"];

describe.skipIf(nodePath === undefined)(`sluice run${skipReason}`, () => {
  test.each(Object.entries(DRIVERS))(
    "shows the driver, runs operations and ends with the table: %s",
    { timeout: TIMEOUT },
    async (_name, command) => {
      const count = ["--operation", "count", "--cancel-after", "100"];
      const { code, stdout, stderr } = await cli("run", ...TOKENISE, ...count, "--", ...command);
      expect(stderr).toBe("");
      expect(code).toBe(0);
      expect(stdout).toMatch(/^Driver {8}example-driver/);
      expect(stdout).toContain("Requests      read-input\nGranted       read-input\n");
      expect(stdout).toMatch(/tokenise: completed: \d+ observations/);
      expect(stdout).toMatch(/count: cancelled, as expected: \d+ observations/);
      expect(stdout).toMatch(/Exit {10}code 0\nEnded by {6}shutdown → stdin\n$/);
    },
  );

  test.each(Object.entries(DRIVERS))(
    "--json prints one object a line, from identity to end: %s",
    { timeout: TIMEOUT },
    async (_name, command) => {
      const { code, stdout } = await cli("run", "--json", ...TOKENISE, "--", ...command);
      const events = eventsOf(stdout);
      const observations = events.filter(({ type }) => type === "observation");
      expect(code).toBe(0);
      expect(events.map(({ type }) => type)).toStrictEqual([
        "identity",
        "prepared",
        ...observations.map(({ type }) => type),
        "completed",
        "end",
      ]);
      expect(events[0]).toMatchObject({ version: "1.0.0", requested_permissions: ["read-input"] });
      expect(observations.length).toBeGreaterThan(20);
      expect(observations.at(-1)).toMatchObject({ kind: "input.digest", operation: "tokenise" });
      expect(events.at(-2)).toMatchObject({ status: "completed", ok: true });
      expect(events.at(-1)).toMatchObject({
        ok: true,
        observations: observations.length,
        exit: { code: 0, signal: null },
        rungs: ["shutdown", "stdin"],
      });
      expect(isAlive(driverPid(stdout))).toBe(false);
    },
  );

  test("without an operation shows the driver and ends it", { timeout: TIMEOUT }, async () => {
    const { code, stdout } = await cli("run", "--json", "--", ...DRIVERS.python);
    expect(code).toBe(0);
    expect(eventsOf(stdout).map(({ type }) => type)).toStrictEqual(["identity", "prepared", "end"]);
  });

  test("--verbose prints each observation, --quiet none", { timeout: TIMEOUT }, async () => {
    const args = [...TOKENISE, "--", ...DRIVERS.python];
    const verbose = await cli("run", "--verbose", ...args);
    expect(verbose.stdout).toContain('tokenise #1 words ["{","\\"name\\":"');
    expect(await cli("run", "--quiet", ...args)).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });

  test("goes on after an operation that failed, and exits 1", { timeout: TIMEOUT }, async () => {
    const steps = ["--operation", "nope", "--operation", "fail", ...TOKENISE];
    const { code, stdout, stderr } = await cli("run", "--json", ...steps, "--", ...DRIVERS.python);
    const completed = eventsOf(stdout).filter(({ type }) => type === "completed");
    expect(code).toBe(1);
    expect(completed).toMatchObject([
      { operation: "nope", status: null, error: { class: "capability_mismatch" }, ok: false },
      { operation: "fail", status: "errored", ok: false },
      { operation: "tokenise", status: "completed", ok: true },
    ]);
    expect(stderr).toContain("[driver] RuntimeError: this operation always fails\n");
    expect(stderr).toContain('sluice: nope: Driver does not offer the operation "nope", only tok');
    expect(stderr).toContain("sluice: fail: the driver ended it as errored, but completed was");
  });

  test.each(Object.entries(DRIVERS))(
    "grants nothing unless it is told to: %s",
    { timeout: TIMEOUT },
    async (_name, command) => {
      const denied = await cli("run", "--operation", "tokenise", "--", ...command);
      expect(denied).toMatchObject({ code: 1 });
      expect(denied.stderr).toContain("tokenise needs the permission read-input");
      const granted = ["--permission", "read-input", "--operation", "tokenise"];
      expect(await cli("run", ...granted, "--", ...command)).toMatchObject({ code: 0, stderr: "" });
    },
  );

  test("--timeout gives an operation up and says so", { timeout: TIMEOUT }, async () => {
    const args = ["--timeout", "100", "--operation", "count", "--", ...DRIVERS.python];
    const { code, stderr } = await cli("run", ...args);
    expect(code).toBe(1);
    expect(stderr).toBe("sluice: count: The invocation took more than 100 ms\n");
  });

  test(
    "names the code and the last words of a driver that exits at once",
    async () => {
      const program = 'process.stderr.write("no licence\\n"); process.exitCode = 7';
      const command = [nodePath ?? "", "-e", program];
      const { code, stdout, stderr } = await cli("run", "--json", "--", ...command);
      expect(code).toBe(1);
      expect(stderr).toContain("[driver] no licence\n");
      expect(stderr).toMatch(
        /sluice: Driver exited with code 7 .*last words on stderr: no licence\n$/,
      );
      expect(eventsOf(stdout)).toMatchObject([
        { type: "end", ok: false, error: { code: "driver_exited" }, exit: null },
      ]);
    },
    TIMEOUT,
  );

  test(
    "names the code and the last words of a driver that dies at work",
    async () => {
      const steps = ["--operation", "act", "--operation", "act"];
      const { code, stdout, stderr } = await cli(
        "run",
        "--json",
        ...steps,
        "--",
        ...rawDriver("dies"),
      );
      expect(code).toBe(1);
      expect(stderr).toMatch(/sluice: act: Driver exited with code 9 .*out of cheese\n$/);
      expect(eventsOf(stdout).at(-1)).toMatchObject({
        operations: [{ status: null }, { status: null }],
        exit: { code: 9, signal: null },
      });
    },
    TIMEOUT,
  );

  test("says that a command was not found", { timeout: TIMEOUT }, async () => {
    const { code, stderr } = await cli("run", "--", "no-such-driver-anywhere");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^sluice: Could not start "no-such.*the command was not found/);
  });

  test(
    "fails a driver that answers the shutdown and exits with a code",
    { timeout: TIMEOUT },
    async () => {
      const { code, stderr } = await cli(
        "run",
        "--operation",
        "act",
        "--",
        ...rawDriver("bad-exit"),
      );
      expect(code).toBe(1);
      expect(stderr).toMatch(/^sluice: Driver exited with code 3 after shutdown/);
    },
  );

  test(
    "--noise decides about a stray line on the driver's stdout",
    { timeout: TIMEOUT },
    async () => {
      const args = ["--operation", "act", "--", ...rawDriver("noise")];
      const failed = await cli("run", ...args);
      expect(failed.code).toBe(1);
      expect(failed.stderr).toMatch(
        /^sluice: act: Driver broke the protocol: it printed "a stray line"/,
      );
      const passed = await cli("run", "--noise", "stderr", ...args);
      expect(passed).toMatchObject({ code: 0, stderr: "[driver's stdout] a stray line\n" });
    },
  );
});
