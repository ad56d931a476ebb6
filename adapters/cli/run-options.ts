/** One option of `sluice run`. */
export interface OptionSpec {
  /** What its value is called in the help; absent for a switch. */
  readonly value?: string;
  readonly short?: string;
  readonly help: string;
}

/** The options of `sluice run`, in the order of the help. */
export const RUN_OPTIONS = {
  operation: { value: "NAME", help: "run this operation; repeatable, they run in order" },
  input: { value: "FILE", help: "the input of the operations that follow; repeatable" },
  "input-handle": {
    value: "KIND:VALUE",
    help: "the same, opened by the driver: pipe:PATH, socket:PATH",
  },
  "data-dir": { value: "DIR", help: "keep each data stream in a file of this directory" },
  "cancel-after": { value: "MS", help: "cancel the preceding operation after this time" },
  timeout: { value: "MS", help: "give an operation up after this time" },
  permission: { value: "NAME", help: "grant this permission; repeatable; default: none" },
  "grant-all": { help: "grant every permission that the driver requests" },
  env: { value: "NAME=VALUE", help: "set this for the driver; repeatable; never printed" },
  cwd: { value: "DIR", help: "start the driver in this directory" },
  companion: { value: "WAY", help: "its data channel: fd (default), unix, pipe, tcp or off" },
  noise: { value: "fail|stderr", help: "what a stray line on its stdout does; default: fail" },
  "start-timeout": { value: "MS", help: "time for the driver to say hello; default: 10000" },
  json: { help: "one JSON object a line: identity, prepared, observation, data, …, end" },
  verbose: { help: "print each observation" },
  quiet: { help: "print complaints only, and the driver's stderr" },
  help: { short: "h", help: "print this" },
  version: { help: "print the version of sluice" },
} as const satisfies Readonly<Record<string, OptionSpec>>;

/** The name of an option of `sluice run`. */
export type RunOption = keyof typeof RUN_OPTIONS;

/** Tells whether a name is that of an option. */
export function isRunOption(name: string): name is RunOption {
  return Object.hasOwn(RUN_OPTIONS, name);
}

/** The properties of an option. */
export function optionSpec(name: RunOption): OptionSpec {
  return RUN_OPTIONS[name];
}
