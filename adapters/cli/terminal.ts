import process from "node:process";
import type { Writable } from "node:stream";

/** A stream that may be a terminal. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
};

/** Where the command prints: results to `stdout`, complaints and the driver's words to `stderr`. */
export interface TerminalStreams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

/** Moves to the start of the line and erases it. */
const ERASE = "\r\u001b[2K";
const DEFAULT_COLUMNS = 80;

/** Prints whole lines and, on a terminal, one status line below them. */
export class Terminal {
  /** Whether a status line can be drawn. */
  readonly interactive: boolean;
  readonly #streams: TerminalStreams;
  readonly #onClosed: (error: Error) => void;
  #status = "";
  #closed = false;
  #waiting = true;
  #drained: PromiseWithResolvers<void> | undefined;

  /** @param onClosed Told once when nothing more can be written to `stdout`. */
  constructor(streams: TerminalStreams, onClosed: (error: Error) => void) {
    this.#streams = streams;
    this.#onClosed = onClosed;
    this.interactive = streams.stdout.isTTY === true && process.env["TERM"] !== "dumb";
    streams.stdout.on("error", this.#failed);
    streams.stdout.on("drain", this.#resume);
    streams.stderr.on("error", ignore);
  }

  /**
   * Prints a line to stdout.
   *
   * @returns A promise to wait for when the reader is slow; it never rejects.
   */
  line(text: string): Promise<void> | undefined {
    if (this.#closed) return undefined;
    this.clearStatus();
    if (this.#streams.stdout.write(`${text}\n`) || !this.#waiting) return undefined;
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  /** Prints a line to stderr. */
  errorLine(text: string): void {
    this.clearStatus();
    this.#streams.stderr.write(`${text}\n`);
  }

  /** Draws the status line anew; only where {@link Terminal.interactive}. */
  drawStatus(text: string): void {
    if (this.#closed) return;
    // Some terminals do not know their width and say 0.
    const columns = this.#streams.stdout.columns || DEFAULT_COLUMNS;
    // One column short: a full line would wrap on some terminals and could not be erased.
    this.#status = text.slice(0, Math.max(0, columns - 1)).toWellFormed();
    this.#streams.stdout.write(ERASE + this.#status);
  }

  clearStatus(): void {
    if (this.#status === "" || this.#closed) return;
    this.#status = "";
    this.#streams.stdout.write(ERASE);
  }

  /** From here on nobody waits for a slow reader. */
  stopWaiting(): void {
    this.#waiting = false;
    this.#resume();
  }

  /** Lets go of the streams; a late error of theirs is still nobody's crash. */
  release(): void {
    this.clearStatus();
    this.stopWaiting();
    this.#streams.stdout.off("drain", this.#resume);
  }

  readonly #resume = (): void => {
    this.#drained?.resolve();
    this.#drained = undefined;
  };

  readonly #failed = (error: Error): void => {
    if (this.#closed) return;
    this.#closed = true;
    this.stopWaiting();
    this.#onClosed(error);
  };
}

function ignore(): void {}
