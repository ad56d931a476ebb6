import { connect } from "node:net";
import { SluiceError } from "../../lib/errors.ts";
import { FileSource } from "./file-source.ts";
import { bridgeReadable } from "./node-readable.ts";
import { errnoOf } from "./pipe-fault.ts";

/** Where an invocation's input lies, as the protocol names it. */
export interface InputHandle {
  readonly kind: string;
  readonly value: string;
}

/**
 * Opens an input handle of kind `pipe` (the path of a file, FIFO or device) or `socket` (the path of
 * a Unix socket) for reading.
 *
 * Nothing is opened before the first read and nothing is read ahead. The value is a secret: no message
 * and no cause shows it.
 *
 * @returns The bytes; a read rejects with `input_unavailable` when they cannot be had.
 * @throws {SluiceError} `input_unsupported` for every other kind.
 */
export function openInput(handle: InputHandle): ReadableStream<Uint8Array> {
  const open = openers.get(handle.kind);
  if (open !== undefined)
    return new ReadableStream(new CodedSource(handle, open), { highWaterMark: 0 });
  const kind = handle.kind.slice(0, 40);
  const message = `Input handles of kind ${JSON.stringify(kind)} cannot be opened here: use pipe or socket`;
  throw new SluiceError("input_unsupported", message, { data: { kind } });
}

const openers: ReadonlyMap<string, (value: string) => ReadableStream<Uint8Array>> = new Map([
  [
    "pipe",
    (path: string) => new ReadableStream<Uint8Array>(new FileSource(path), { highWaterMark: 0 }),
  ],
  ["socket", (path: string) => bridgeReadable(connect({ path })).readable],
]);

/** Opens at the first read and codes every fault. */
class CodedSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #kind: string;
  readonly #value: string;
  readonly #open: (value: string) => ReadableStream<Uint8Array>;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor({ kind, value }: InputHandle, open: (value: string) => ReadableStream<Uint8Array>) {
    this.#kind = kind;
    this.#value = value;
    this.#open = open;
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      this.#reader ??= this.#open(this.#value).getReader();
      const { done, value } = await this.#reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    } catch (error) {
      throw unavailable(this.#kind, error);
    }
  }

  async cancel(): Promise<void> {
    await this.#reader?.cancel();
  }
}

/** System errors carry the path in their text, so the cause is rebuilt from its code. */
function unavailable(kind: string, error: unknown): SluiceError {
  const source = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const errno = errnoOf(source) ?? null;
  const syscall = syscallOf(source);
  const cause = Object.assign(
    new Error(`${syscall ?? "input"} failed: ${errno ?? "no error code"}`),
    { code: errno },
  );
  const message = `The input handle of kind ${kind} could not be read (${errno ?? "no error code"})`;
  return new SluiceError("input_unavailable", message, { cause, data: { kind, errno } });
}

function syscallOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("syscall" in error)) return undefined;
  return typeof error.syscall === "string" ? error.syscall : undefined;
}
