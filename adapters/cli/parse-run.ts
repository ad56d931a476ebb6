import { parseArgs } from "node:util";
import { RunDraft, type RunRequest } from "./run-draft.ts";
import { isRunOption, optionSpec, RUN_OPTIONS, type RunOption } from "./run-options.ts";
import { suggestion } from "./suggest.ts";
import { UsageError } from "./usage-error.ts";

/** What the arguments of `sluice run` ask for. */
export type RunArguments = "help" | "version" | RunRequest;

interface OptionToken {
  readonly kind: "option";
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

/**
 * Reads the arguments of `sluice run`.
 *
 * @throws {UsageError} For the first thing that is wrong.
 */
export function parseRun(args: readonly string[]): RunArguments {
  const border = args.indexOf("--");
  const own = border === -1 ? args : args.slice(0, border);
  const draft = new RunDraft();
  for (const token of tokensOf(own)) {
    if (token.kind === "positional") throw stray(token.value, border === -1);
    if (token.kind !== "option") continue;
    const name = nameOf(token);
    if (name === "help" || name === "version") return name;
    draft.set(name, valueOf(name, token));
  }
  return draft.finish(border === -1 ? [] : args.slice(border + 1));
}

/** Not strict, so that what is wrong is said in our own words, the same on every runtime. */
function tokensOf(args: readonly string[]) {
  const names = Object.keys(RUN_OPTIONS) as RunOption[];
  const options = Object.fromEntries(
    names.map((name) => {
      const { value, short } = optionSpec(name);
      const type = value === undefined ? ("boolean" as const) : ("string" as const);
      return [name, { type, multiple: true, ...(short !== undefined && { short }) }];
    }),
  );
  const config = { args: [...args], options, strict: false, tokens: true } as const;
  return parseArgs({ ...config, allowPositionals: true }).tokens;
}

function nameOf({ name, rawName }: OptionToken): RunOption {
  if (isRunOption(name)) return name;
  const known = Object.keys(RUN_OPTIONS).map((option) => `--${option}`);
  throw new UsageError(
    `Unknown option ${JSON.stringify(rawName.slice(0, 60))} of run${suggestion(rawName, known)}`,
    "run",
  );
}

function valueOf(name: RunOption, { value, inlineValue }: OptionToken): string {
  const { value: placeholder } = optionSpec(name);
  if (placeholder === undefined) {
    if (inlineValue !== true) return "";
    throw new UsageError(`Option --${name} is a switch: leave its value away`, "run");
  }
  const forgotten = value === undefined || (inlineValue !== true && value.startsWith("--"));
  if (!forgotten && value !== "") return value;
  throw new UsageError(`Option --${name} needs a value: write --${name} ${placeholder}`, "run");
}

function stray(value: string, noCommand: boolean): UsageError {
  const shown = JSON.stringify(value.slice(0, 60));
  const advice = noCommand
    ? `put "--" before the driver's command: sluice run [options] -- ${value.slice(0, 60)} …`
    : 'what stands before "--" must be options';
  return new UsageError(`Unexpected argument ${shown} of run: ${advice}`, "run");
}
