import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { reap } from "../../support/processes.ts";
import { find } from "../../support/runtimes.ts";
import { runtime } from "../../support/runtime-name.ts";

/** The Node that runs the command: this one, or the checkout's when another runtime runs the tests. */
export const nodePath: string | undefined =
  runtime === "node" ? process.execPath : find("node")?.path;

/** Said in the name of what is skipped. */
export const skipReason: string =
  nodePath === undefined ? " (skipped: this checkout has no Node)" : "";

const root = new URL("../../../", import.meta.url);

/** The path of a file of the repository. */
export function pathOf(file: string): string {
  return fileURLToPath(new URL(file, root));
}

/** How a program is run from source. */
export function fromSource(file: string, ...args: readonly string[]): string[] {
  return [nodePath ?? "node", "--conditions=sluice:source", pathOf(file), ...args];
}

/** The example drivers. */
export const DRIVERS = {
  typescript: fromSource("examples/driver.ts"),
  python: ["python3", pathOf("examples/driver.py")],
} as const;

/** A driver that speaks the protocol by hand and misbehaves as its argument says. */
export function rawDriver(mode: string): string[] {
  return [nodePath ?? "node", pathOf("test/cli/fixtures/raw-driver.ts"), mode];
}

/** What a finished program left. */
export interface Finished {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program under way. */
export interface Started {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** The text of stdout so far. */
  readonly text: () => string;
  /** Sends it a signal. */
  readonly signal: (name: NodeJS.Signals) => void;
}

/** Starts a program; it is gone when the test ends. */
export function start(command: readonly string[]): Started {
  const [file = "", ...args] = command;
  const child = spawn(file, args, { cwd: pathOf("."), stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => reap(child.pid));
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  // Not child.kill(): on Deno the child counts as killed by the signal whatever it makes of it.
  const signal = (name: NodeJS.Signals): void => void process.kill(child.pid!, name);
  return { child, finished, text: () => stdout, signal };
}

/** Starts `sluice`. */
export function startCli(...args: readonly string[]): Started {
  return start(fromSource("adapters/cli/main.ts", ...args));
}

/** Runs `sluice` to its end. */
export function cli(...args: readonly string[]): Promise<Finished> {
  return startCli(...args).finished;
}

/** An object that `--json` printed. */
export type Event = Readonly<Record<string, unknown>> & { readonly type: string };

/** Reads the lines that `--json` printed; a line that is no JSON fails the test. */
export function eventsOf(stdout: string): Event[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Event);
}

/** The process id of the driver that the output names. */
export function driverPid(stdout: string): number {
  return Number(/"pid":(\d+)/.exec(stdout)?.[1]);
}
