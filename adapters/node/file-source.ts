import { close, constants, open, read } from "node:fs";
import { stat as statFile } from "node:fs/promises";
import { Socket } from "node:net";
import process from "node:process";
import { promisify } from "node:util";
import { bridgeReadable } from "./node-readable.ts";

const CHUNK = 64 * 1024;
const openFile = promisify(open);
const readFile = promisify(read);
const closeFile = promisify(close);

/**
 * Whether a FIFO can be opened without a writer and waited for without a thread, which would also hold
 * up the exit. Elsewhere a reader that came first sees an end (other systems), the flag is read as
 * another one (Deno), or the socket stays silent (Bun).
 */
const POLLS_FIFOS =
  process.platform === "linux" && !("Deno" in globalThis) && !("Bun" in globalThis);

/**
 * Reads a file, device or FIFO when asked, 64 KiB at a time; it is opened at the first read.
 *
 * On Node for Linux a FIFO that nobody writes to yet blocks no thread; elsewhere a thread waits for a
 * writer, also after a cancel.
 */
export class FileSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #path: string;
  #file: Promise<OpenFile> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const file = await (this.#file ??= openPath(this.#path));
    const chunk = await file.read();
    if (chunk !== undefined) return controller.enqueue(chunk);
    await file.close();
    controller.close();
  }

  cancel(): void {
    // Not waited for: a thread may sit in the open of a FIFO until a writer comes.
    void this.#file?.then((file) => file.close()).catch(() => undefined);
  }
}

interface OpenFile {
  /** Gives the next bytes, or undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

async function openPath(path: string): Promise<OpenFile> {
  const fifo = (await statFile(path)).isFIFO();
  if (!fifo || !POLLS_FIFOS) return openPlain(await openFile(path, constants.O_RDONLY));
  return openFifo(await openFile(path, constants.O_RDONLY | constants.O_NONBLOCK));
}

function openFifo(fd: number): OpenFile {
  const reader = bridgeReadable(
    new Socket({ fd, readable: true, writable: false }),
  ).readable.getReader();
  return {
    read: async () => (await reader.read()).value,
    close: () => reader.cancel(),
  };
}

function openPlain(fd: number): OpenFile {
  let pending: Promise<unknown> = Promise.resolve();
  let closed: Promise<void> | undefined;
  return {
    async read() {
      const reading = readFile(fd, new Uint8Array(CHUNK), 0, CHUNK, null);
      pending = reading;
      const { bytesRead, buffer } = await reading;
      return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead);
    },
    // Only after the read under way: the number of a closed descriptor is soon another file's.
    close: () => (closed ??= pending.catch(() => undefined).then(() => closeFile(fd))),
  };
}
