import process from "node:process";
import { SluiceError } from "../../lib/errors.ts";
import type { ByteDuplex } from "../../lib/streams/duplex.ts";
import { bridgeReadable, bridgeWritable } from "./node-streams.ts";
import { guardStdout } from "./stdout-guard.ts";
import type { StdoutGuard } from "./stdout-guard.ts";

/** How {@link stdio} takes the process's streams. */
export interface StdioOptions {
  /**
   * Whether `console.*` and plain writes to `process.stdout` go to standard error meanwhile, so that
   * they cannot get between frames. Default true.
   */
  readonly guard?: boolean | undefined;
}

/** The process's own stdin and stdout as a byte channel. */
export interface StdioDuplex extends ByteDuplex {
  /** Gives both streams and `console` back; may be called any number of times. */
  release(): void;
}

let held = false;

/**
 * Takes the process's stdin and stdout as a byte channel, for the driver's side.
 *
 * A write resolves once the kernel has the bytes: await it before `process.exit()`, which drops what
 * is still queued. A reader that is gone rejects the write with `broken_pipe` and nothing else happens.
 * Stdin is untouched until the first read; its end closes `readable`; cancelling it closes stdin, so that the process can end by itself.
 * Closing `writable` takes no more frames; descriptor 1 stays open until the process ends.
 *
 * @throws {SluiceError} `stdio_in_use` when it is already taken and not released.
 */
export function stdio(options: StdioOptions = {}): StdioDuplex {
  if (held) {
    throw new SluiceError(
      "stdio_in_use",
      "Standard input and output are already taken: release them first",
    );
  }
  held = true;
  const guard: StdoutGuard | undefined = options.guard === false ? undefined : guardStdout();
  const input = bridgeReadable(process.stdin, { lazy: true });
  const output = bridgeWritable(process.stdout, { end: false, write: guard?.write });
  let released = false;
  return {
    readable: input.readable,
    writable: output.writable,
    release() {
      if (released) return;
      released = true;
      held = false;
      input.detach();
      // Once the stream has seen that nobody listens: a pause before that stops no reading.
      process.nextTick(pauseUnheard, process.stdin);
      output.detach();
      guard?.release();
    },
  };
}

/** A stream that still reads keeps the process alive; one that somebody else took up is theirs. */
function pauseUnheard(stream: NodeJS.ReadStream): void {
  if (stream.listenerCount("data") + stream.listenerCount("readable") === 0) stream.pause();
}
