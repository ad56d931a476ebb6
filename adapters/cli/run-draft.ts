import { checkDirectory, checkInput } from "./check-path.ts";
import type { RunOption } from "./run-options.ts";
import type { ByteSource } from "../../lib/driver/companion/mod.ts";
import type { ExactInputHandle } from "../../lib/driver/contract/invoke.ts";
import { openInput } from "../node/files.ts";
import type { SessionRequest, Step, View } from "./session-types.ts";
import { UsageError } from "./usage-error.ts";

/** A session as `sluice run` asks for it. */
export type RunRequest = SessionRequest;

type InputOfStep = Pick<Step, "input" | "inputHandle">;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The options of `sluice run` as they come, in order. */
export class RunDraft {
  readonly #steps: Mutable<Step>[] = [];
  readonly #permissions: string[] = [];
  readonly #env: Record<string, string> = Object.create(null) as Record<string, string>;
  readonly #request: {
    -readonly [K in "companion" | "cwd" | "dataDir" | "noise" | "startTimeout"]?: SessionRequest[K];
  } = {};
  #input: { readonly step: InputOfStep; readonly option: string; used: boolean } | undefined;
  #timeout: number | undefined;
  #grantAll = false;
  #view: View | undefined;

  readonly #handlers: Readonly<
    Record<Exclude<RunOption, "help" | "version">, (value: string) => void>
  > = {
    operation: (name) => this.#addStep(name),
    input: (file) => this.#setInput("input", fileInput(checkInput(file))),
    "input-handle": (value) => this.#setInput("input-handle", { inputHandle: handle(value) }),
    "data-dir": (folder) => (this.#request.dataDir = checkDirectory("data-dir", folder)),
    companion: (value) => (this.#request.companion = companion(value)),
    "cancel-after": (value) => this.#cancelAfter(milliseconds("cancel-after", value, 0)),
    timeout: (value) => (this.#timeout = milliseconds("timeout", value, 1)),
    permission: (name) => this.#permissions.push(name),
    "grant-all": () => (this.#grantAll = true),
    env: (assignment) => this.#setEnv(assignment),
    cwd: (folder) => (this.#request.cwd = checkDirectory("cwd", folder)),
    noise: (value) => (this.#request.noise = noise(value)),
    "start-timeout": (value) =>
      (this.#request.startTimeout = milliseconds("start-timeout", value, 1)),
    json: () => this.#setView("json"),
    verbose: () => this.#setView("verbose"),
    quiet: () => this.#setView("quiet"),
  };

  /** @throws {UsageError} When the value does not fit the option. */
  set(name: Exclude<RunOption, "help" | "version">, value: string): void {
    this.#handlers[name](value);
  }

  /** @throws {UsageError} When the options do not fit together, or the command is missing. */
  finish(command: readonly string[]): RunRequest {
    if (command.length === 0 || command[0] === "") {
      throw new UsageError(
        'The driver\'s command is missing: write it after "--", as in sluice run -- python3 driver.py',
        "run",
      );
    }
    if (this.#input?.used === false) {
      throw new UsageError(
        `Option --${this.#input.option} has no operation after it: it is the input of those that follow, so put it before --operation`,
        "run",
      );
    }
    if (this.#grantAll && this.#permissions.length > 0)
      throw new UsageError("Options --grant-all and --permission exclude each other", "run");
    const timeout = this.#timeout;
    return {
      ...this.#request,
      command,
      steps: this.#steps.map((step) => ({ ...step, timeout })),
      permissions: this.#grantAll ? "requested" : this.#permissions,
      env: { ...this.#env },
      view: this.#view ?? "text",
    };
  }

  #addStep(operation: string): void {
    if (this.#input !== undefined) this.#input.used = true;
    this.#steps.push({ operation, ...this.#input?.step });
  }

  #setInput(option: string, step: InputOfStep): void {
    this.#input = { step, option, used: false };
  }

  #cancelAfter(delay: number): void {
    const step = this.#steps.at(-1);
    if (step === undefined) {
      throw new UsageError(
        "Option --cancel-after has no operation before it: put it after the --operation that it cancels",
        "run",
      );
    }
    step.cancelAfter = delay;
  }

  /** No message shows the value: it may be a secret. */
  #setEnv(assignment: string): void {
    const border = assignment.indexOf("=");
    if (border < 1)
      throw new UsageError(
        "Option --env needs a name, an equals sign and a value: NAME=VALUE",
        "run",
      );
    this.#env[assignment.slice(0, border)] = assignment.slice(border + 1);
  }

  #setView(view: View): void {
    if (this.#view !== undefined && this.#view !== view) {
      throw new UsageError(
        `Options --${this.#view} and --${view} exclude each other: give one of them`,
        "run",
      );
    }
    this.#view = view;
  }
}

function milliseconds(name: string, value: string, least: number): number {
  const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new UsageError(
    `Option --${name} needs a whole number of milliseconds from ${least}, got ${JSON.stringify(value.slice(0, 40))}`,
    "run",
  );
}

/** Opened anew for each operation, at the first read. */
function fileInput(value: string): InputOfStep {
  return { input: (): ByteSource => openInput({ kind: "pipe", value }) };
}

function handle(text: string): ExactInputHandle {
  const border = text.indexOf(":");
  const kind = text.slice(0, Math.max(0, border));
  const value = text.slice(border + 1);
  if ((kind === "pipe" || kind === "socket" || kind === "memfd") && value !== "")
    return { kind, value };
  // No message shows the value: it may be a secret.
  throw new UsageError(
    "Option --input-handle needs a kind, a colon and a value: pipe:PATH, socket:PATH or memfd:NAME",
    "run",
  );
}

const WAYS = ["fd", "unix", "pipe", "tcp", "off"] as const;

function companion(value: string): (typeof WAYS)[number] {
  const way = WAYS.find((known) => known === value);
  if (way !== undefined) return way;
  throw new UsageError(
    `Option --companion is fd, unix, pipe, tcp or off, got ${JSON.stringify(value.slice(0, 40))}`,
    "run",
  );
}

function noise(value: string): "fail" | "stderr" {
  if (value === "fail" || value === "stderr") return value;
  throw new UsageError(
    `Option --noise is fail or stderr, got ${JSON.stringify(value.slice(0, 40))}`,
    "run",
  );
}
