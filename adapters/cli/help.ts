import { optionSpec, RUN_OPTIONS, type RunOption } from "./run-options.ts";

/** The help of the command itself. */
export const HELP = `Usage: sluice <verb> …

Hosts out-of-process drivers that speak driver protocol v1 over stdin and stdout.

Verbs
  run      start a driver, show what it is, run operations, stream what they observe
  help     print this, or the help of a verb

Options
  -h, --help     print this
      --version  print the version of sluice

Example
  sluice run --grant-all --input README.md --operation tokenise -- python3 driver.py
`;

/** The help of `sluice run`. */
export function runHelp(): string {
  return `Usage: sluice run [options] -- <command …>

Starts a driver, shows its identity, version, permissions and capabilities, runs the operations in
order (also after one that failed), and ends it. Without an operation it is shown and ended.

Options
${Object.keys(RUN_OPTIONS)
  .map((name) => optionLine(name as RunOption))
  .join("\n")}

Lines of the driver's stderr come on stderr after "[driver]". The driver inherits a short list of
environment variables only; whatever else it needs is given with --env. Values given with --env and
the session's token read "[redacted]" in what the driver prints, values under 8 characters excepted.

Exit codes
  0    every operation completed, or was cancelled where --cancel-after asked for it
  1    an operation or the driver failed
  2    the command was called wrongly
  130  stopped by Ctrl-C (129 SIGHUP, 143 SIGTERM); a second one kills the driver at once
`;
}

function optionLine(name: RunOption): string {
  const { value, short, help } = optionSpec(name);
  const start = short === undefined ? "    " : `-${short}, `;
  const option = `--${name}${value === undefined ? "" : ` ${value}`}`;
  return `  ${start}${option.padEnd(20)} ${help}`;
}
