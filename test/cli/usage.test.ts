import { describe, expect, test } from "vitest";
import { command } from "../../adapters/cli/command.ts";
import { cli, nodePath, pathOf, skipReason } from "./support/cli.ts";
import { outputs } from "./support/streams.ts";

const RUN = 'Try "sluice run --help"\n';
const ROOT = 'Try "sluice --help"\n';

const WRONG: readonly (readonly [args: readonly string[], message: string, hint?: string])[] = [
  [[], "A verb is missing: write, for example, sluice run -- python3 driver.py", ROOT],
  [["rnu"], 'Unknown verb "rnu"; did you mean "run"?', ROOT],
  [["frobnicate"], 'Unknown verb "frobnicate": the verbs are run and help', ROOT],
  [["help", "nothing"], 'Unknown verb "nothing": the verbs are run and help', ROOT],
  [["--json"], 'Unknown option "--json": options of a verb stand after it', ROOT],
  [
    ["run"],
    'The driver\'s command is missing: write it after "--", as in sluice run -- python3 driver.py',
  ],
  [
    ["run", "--"],
    'The driver\'s command is missing: write it after "--", as in sluice run -- python3 driver.py',
  ],
  [
    ["run", "--opration", "x", "--", "d"],
    'Unknown option "--opration" of run; did you mean "--operation"?',
  ],
  [["run", "--frobnicate", "--", "d"], 'Unknown option "--frobnicate" of run'],
  [["run", "--constructor", "--", "d"], 'Unknown option "--constructor" of run'],
  [["run", "-x", "--", "d"], 'Unknown option "-x" of run'],
  [
    ["run", "python3", "d.py"],
    'Unexpected argument "python3" of run: put "--" before the driver\'s command: sluice run [options] -- python3 …',
  ],
  [
    ["run", "stray", "--", "d"],
    'Unexpected argument "stray" of run: what stands before "--" must be options',
  ],
  [["run", "--operation", "--", "d"], "Option --operation needs a value: write --operation NAME"],
  [
    ["run", "--operation", "--json", "--", "d"],
    "Option --operation needs a value: write --operation NAME",
  ],
  [["run", "--operation=", "--", "d"], "Option --operation needs a value: write --operation NAME"],
  [["run", "--json=yes", "--", "d"], "Option --json is a switch: leave its value away"],
  [
    ["run", "--timeout", "soon", "--", "d"],
    'Option --timeout needs a whole number of milliseconds from 1, got "soon"',
  ],
  [
    ["run", "--timeout", "0", "--", "d"],
    'Option --timeout needs a whole number of milliseconds from 1, got "0"',
  ],
  [
    ["run", "--timeout", "-5", "--", "d"],
    'Option --timeout needs a whole number of milliseconds from 1, got "-5"',
  ],
  [
    ["run", "--start-timeout", "1e3", "--", "d"],
    'Option --start-timeout needs a whole number of milliseconds from 1, got "1e3"',
  ],
  [
    ["run", "--operation", "o", "--cancel-after", "1.5", "--", "d"],
    'Option --cancel-after needs a whole number of milliseconds from 0, got "1.5"',
  ],
  [
    ["run", "--cancel-after", "5", "--operation", "o", "--", "d"],
    "Option --cancel-after has no operation before it: put it after the --operation that it cancels",
  ],
  [
    ["run", "--input", "no/such/file", "--operation", "o", "--", "d"],
    'Option --input: "no/such/file" does not exist or cannot be reached: check the path',
  ],
  [
    ["run", "--input", pathOf("lib"), "--operation", "o", "--", "d"],
    `Option --input: ${JSON.stringify(pathOf("lib"))} is a directory: give a file`,
  ],
  [
    ["run", "--operation", "o", "--input", pathOf("package.json"), "--", "d"],
    "Option --input has no operation after it: it is the input of those that follow, so put it before --operation",
  ],
  [
    ["run", "--cwd", "no/such/folder", "--", "d"],
    'Option --cwd: "no/such/folder" does not exist or cannot be reached: check the path',
  ],
  [
    ["run", "--cwd", pathOf("package.json"), "--", "d"],
    `Option --cwd: ${JSON.stringify(pathOf("package.json"))} is not a directory: give one`,
  ],
  [
    ["run", "--operation", "o", "--input-handle", "pipe:/x", "--", "d"],
    "Option --input-handle has no operation after it: it is the input of those that follow, so put it before --operation",
  ],
  ...["/s3cret", "file:/s3cret", "pipe:", ":"].map(
    (value) =>
      [
        ["run", "--input-handle", value, "--operation", "o", "--", "d"],
        "Option --input-handle needs a kind, a colon and a value: pipe:PATH, socket:PATH or memfd:NAME",
      ] as const,
  ),
  [
    ["run", "--data-dir", "no/such/folder", "--", "d"],
    'Option --data-dir: "no/such/folder" does not exist or cannot be reached: check the path',
  ],
  [
    ["run", "--data-dir", pathOf("package.json"), "--", "d"],
    `Option --data-dir: ${JSON.stringify(pathOf("package.json"))} is not a directory: give one`,
  ],
  [
    ["run", "--companion", "pigeon", "--", "d"],
    'Option --companion is fd, unix, pipe, tcp or off, got "pigeon"',
  ],
  [["run", "--noise", "loud", "--", "d"], 'Option --noise is fail or stderr, got "loud"'],
  [
    ["run", "--env", "s3cret", "--", "d"],
    "Option --env needs a name, an equals sign and a value: NAME=VALUE",
  ],
  [
    ["run", "--env", "=s3cret", "--", "d"],
    "Option --env needs a name, an equals sign and a value: NAME=VALUE",
  ],
  [
    ["run", "--grant-all", "--permission", "p", "--", "d"],
    "Options --grant-all and --permission exclude each other",
  ],
  [
    ["run", "--json", "--quiet", "--", "d"],
    "Options --json and --quiet exclude each other: give one of them",
  ],
];

describe("command() refuses a wrong call with 2 and one sentence", () => {
  test.each(WRONG.map(([args, ...rest]) => ({ args, rest })))("$args", async ({ args, rest }) => {
    const [message, hint = RUN] = rest;
    const streams = outputs();
    expect(await command(args, streams)).toBe(2);
    expect(streams.stdout.text).toBe("");
    expect(streams.stderr.text).toBe(`sluice: ${message}\n${hint}`);
  });

  test("what was typed acts on no terminal", async () => {
    const streams = outputs();
    expect(await command(["run", "\u009b2J", "--", "d"], streams)).toBe(2);
    expect(streams.stderr.text).toContain(String.raw`"\u009b2J"`);
  });
});

describe("command() prints", () => {
  test.each([[["--help"]], [["-h"]], [["help"]], [["help", "help"]]])(
    "its help for %j",
    async (args) => {
      const streams = outputs();
      expect(await command(args, streams)).toBe(0);
      expect(streams.stdout.text).toMatch(/^Usage: sluice <verb>/);
    },
  );

  test.each([
    [["run", "--help"]],
    [["run", "-h", "--", "d"]],
    [["run", "--operation", "o", "--help"]],
    [["help", "run"]],
  ])("the help of run for %j, in lines of 100 characters", async (args) => {
    const streams = outputs();
    expect(await command(args, streams)).toBe(0);
    expect(streams.stdout.text).toMatch(/^Usage: sluice run \[options\] -- <command/);
    expect(streams.stdout.text.split("\n").filter((line) => line.length > 100)).toStrictEqual([]);
  });

  test.each([[["--version"]], [["run", "--version"]]])("the version for %j", async (args) => {
    const streams = outputs();
    expect(await command(args, streams)).toBe(0);
    expect(streams.stdout.text).toMatch(/^\d+\.\d+\.\d+.*\n$/);
  });
});

describe.skipIf(nodePath === undefined)(`the sluice program${skipReason}`, () => {
  test("exits 2 after a wrong call", { timeout: 20_000 }, async () => {
    expect(await cli("run", "--json")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^sluice: The driver's command is missing.*\nTry/),
    });
  });

  test("exits 0 after its help", { timeout: 20_000 }, async () => {
    expect(await cli("--help")).toMatchObject({ code: 0, stderr: "" });
  });
});
