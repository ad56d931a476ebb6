import { HELP, runHelp } from "./help.ts";
import { parseRun } from "./parse-run.ts";
import { printable } from "./printable.ts";
import { runSession } from "./run-session.ts";
import { suggestion } from "./suggest.ts";
import type { OutputStream, TerminalStreams } from "./terminal.ts";
import { UsageError } from "./usage-error.ts";
import { version } from "./version.ts";

const VERBS = ["run", "help"] as const;

/**
 * The `sluice` command.
 *
 * @param args The arguments after the program's own name.
 * @returns The exit code: 0, 1, or 2 for a wrong call; 128 and more after a signal.
 */
export async function command(args: readonly string[], streams: TerminalStreams): Promise<number> {
  try {
    return await dispatch(args, streams);
  } catch (error) {
    streams.stderr.on("error", () => {});
    const message = error instanceof Error ? error.message : String(error);
    const usage = error instanceof UsageError;
    streams.stderr.write(`sluice: ${printable(message)}\n`);
    if (!usage) return 1;
    streams.stderr.write(`Try "${["sluice", error.verb, "--help"].filter(Boolean).join(" ")}"\n`);
    return 2;
  }
}

async function dispatch(args: readonly string[], streams: TerminalStreams): Promise<number> {
  const [verb, ...rest] = args;
  switch (verb) {
    case "run": {
      const request = parseRun(rest);
      if (request === "help") return print(streams.stdout, runHelp());
      if (request === "version") return print(streams.stdout, `${version()}\n`);
      return (await runSession(request, streams)).exitCode;
    }
    case "help":
      return print(streams.stdout, rest[0] === "run" ? runHelp() : helpOf(rest[0]));
    case "--help":
    case "-h":
      return print(streams.stdout, HELP);
    case "--version":
      return print(streams.stdout, `${version()}\n`);
    default:
      throw wrongVerb(verb);
  }
}

function helpOf(verb: string | undefined): string {
  if (verb === undefined || verb === "help") return HELP;
  throw wrongVerb(verb);
}

function wrongVerb(verb: string | undefined): UsageError {
  if (verb === undefined)
    return new UsageError("A verb is missing: write, for example, sluice run -- python3 driver.py");
  const shown = JSON.stringify(verb.slice(0, 60));
  if (verb.startsWith("-"))
    return new UsageError(`Unknown option ${shown}: options of a verb stand after it`);
  return new UsageError(
    `Unknown verb ${shown}${suggestion(verb, VERBS) || `: the verbs are ${VERBS.join(" and ")}`}`,
  );
}

function print(stdout: OutputStream, text: string): number {
  stdout.on("error", () => {});
  stdout.write(text);
  return 0;
}
