import { SluiceError } from "../errors.ts";
import type { ExitStatus } from "./child-handle.ts";
import type { StderrTail } from "./stderr-tail.ts";

/** What {@link DriverExited} tells beside the exit itself. */
export interface DriverExitedData extends Readonly<Record<string, unknown>> {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly pid: number;
  /** Why the host ended it, when the host did. */
  readonly reason?: string;
  /** The methods that waited for an answer, at most 16 names. */
  readonly inFlight: readonly string[];
  /** The end of standard error, whole lines, at most 2 KiB. */
  readonly stderr: string;
}

/** Where {@link DriverExited.fromStatus} takes its details from. */
export interface DriverExitedContext {
  readonly pid: number;
  /** Give it about 100 ms to settle after the exit. */
  readonly tail?: StderrTail | undefined;
  /** Names of the methods that waited for an answer. */
  readonly inFlight?: readonly string[] | undefined;
  /** Why the host ended it, as part of a sentence: `start timeout of 10000 ms`. */
  readonly reason?: string | undefined;
  /** Blanks secrets in the text of standard error. */
  readonly redact?: ((text: string) => string) | undefined;
  readonly cause?: unknown;
}

const STDERR_BYTES = 2048;
const NAMES = 16;
const LAST_WORDS = 240;

/** The driver has ended: code `driver_exited`, with how, what it left open and its last words. */
export class DriverExited extends SluiceError {
  declare readonly data: DriverExitedData;

  static {
    Object.defineProperty(this.prototype, "name", {
      value: "DriverExited",
      configurable: true,
      writable: true,
    });
  }

  private constructor(
    message: string,
    data: DriverExitedData,
    options: { readonly cause?: unknown },
  ) {
    super("driver_exited", message, { ...options, data });
  }

  /** Builds the error from an exit status and what the host knows around it. */
  static fromStatus(status: ExitStatus, context: DriverExitedContext): DriverExited {
    const inFlight = context.inFlight ?? [];
    const stderr = context.tail?.text({ maxBytes: STDERR_BYTES, redact: context.redact }) ?? "";
    const data: DriverExitedData = {
      exitCode: status.code,
      signal: status.signal,
      pid: context.pid,
      ...(context.reason === undefined ? {} : { reason: context.reason }),
      inFlight: inFlight.slice(0, NAMES),
      stderr,
    };
    const message = `Driver ${ending(status)}${because(context.reason)}${open(inFlight)}${lastWords(stderr)}`;
    return new DriverExited(message, data, { cause: context.cause });
  }
}

function ending({ code, signal }: ExitStatus): string {
  if (signal !== null) return `was ended by signal ${signal}`;
  return code === null ? "ended in an unknown way" : `exited with code ${code}`;
}

function because(reason: string | undefined): string {
  return reason === undefined ? "" : ` (${reason})`;
}

function open(names: readonly string[]): string {
  if (names.length === 0) return "";
  const shown = names.slice(0, 3);
  const rest = names.length - shown.length;
  const list = rest > 0 ? [...shown, `${rest} more`] : shown;
  const text = list.length === 1 ? list[0] : `${list.slice(0, -1).join(", ")} and ${list.at(-1)}`;
  return ` while ${text} ${list.length === 1 ? "was" : "were"} in flight`;
}

/** The last lines that name a reason, on one line; stack frames and the like say less than what precedes them. */
function lastWords(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.replaceAll(/[\p{Cc}\s]+/gu, " ").trim());
  const telling = lines.filter((line) => line !== "" && !/^(?:at |Node\.js v|\^+$)/.test(line));
  if (telling.length === 0) return "";
  const words = telling.slice(-3).join(" | ");
  const cut = words.length > LAST_WORDS ? `…${words.slice(-LAST_WORDS)}`.toWellFormed() : words;
  return `; its last words on stderr: ${cut}`;
}
