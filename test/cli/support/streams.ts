import { Writable } from "node:stream";
import type { OutputStream, TerminalStreams } from "../../../adapters/cli/terminal.ts";

/** An output that is kept; `isTTY` makes it look like a terminal. */
export class Output extends Writable implements OutputStream {
  readonly isTTY: boolean;
  readonly columns: number;
  #text = "";

  constructor(options: { readonly isTTY?: boolean; readonly columns?: number } = {}) {
    super({ decodeStrings: false });
    this.isTTY = options.isTTY ?? false;
    this.columns = options.columns ?? 80;
  }

  get text(): string {
    return this.#text;
  }

  override _write(chunk: string | Uint8Array, _encoding: string, done: () => void): void {
    this.#text += String(chunk);
    done();
  }
}

/** The two outputs of a command that runs in this process. */
export function outputs(options: { readonly isTTY?: boolean; readonly columns?: number } = {}): {
  readonly [K in keyof TerminalStreams]: Output;
} {
  return { stdout: new Output(options), stderr: new Output() };
}
