import type { Clock } from "../clock.ts";
import { checkLimit, DEFAULT_LIMITS } from "../limits.ts";
import { ByteRing } from "./byte-ring.ts";
import { dropPartLine, lastLines, leadingPart } from "./last-lines.ts";

/** How a {@link StderrTail} keeps and passes on what it reads. */
export interface StderrTailOptions {
  /** Bytes kept, from 1. Default 64 KiB. */
  readonly maxBytes?: number | undefined;
  /**
   * Bytes kept beyond `maxBytes` so that a secret cut by the front edge is still recognised: the
   * length of the longest one. Default 0.
   */
  readonly overlap?: number | undefined;
  /** Gets every chunk as it comes; what it throws is ignored and ends the calls. */
  readonly tee?: ((chunk: Uint8Array) => void) | undefined;
}

/** What {@link StderrTail.text} gives. */
export interface TailTextOptions {
  /** Most bytes of UTF-8. Default: all that is kept. */
  readonly maxBytes?: number | undefined;
  /** Blanks secrets; runs over the joined text, before anything is cut. */
  readonly redact?: ((text: string) => string) | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Reads a child's standard error to its end, keeps its last bytes and never lets the pipe fill.
 *
 * Reading starts at construction and depends on nobody. No method throws and no promise rejects:
 * a pipe that breaks is a pipe that ended.
 */
export class StderrTail {
  /** Resolves when the pipe has ended or broken. */
  readonly done: Promise<void>;
  readonly #ring: ByteRing;
  readonly #maxBytes: number;
  readonly #overlap: number;
  #tee: ((chunk: Uint8Array) => void) | undefined;

  /**
   * @param source The pipe; it is locked from here on.
   * @throws {RangeError} When a bound is not a whole number in its range.
   */
  constructor(source: ReadableStream<Uint8Array>, options: StderrTailOptions = {}) {
    this.#maxBytes = checkLimit("maxBytes", options.maxBytes ?? DEFAULT_LIMITS.stderrTailBytes);
    this.#overlap = options.overlap ? checkLimit("overlap", options.overlap) : 0;
    this.#ring = new ByteRing(this.#maxBytes + this.#overlap);
    this.#tee = options.tee;
    this.done = this.#drain(source.getReader());
  }

  /** Bytes read so far. */
  get bytesSeen(): number {
    return this.#ring.seen;
  }

  /** Bytes read and no longer part of the tail. */
  get bytesDropped(): number {
    return Math.max(0, this.#ring.seen - this.#maxBytes);
  }

  /** Adds a line from elsewhere, such as one that the child printed to the wrong pipe; the `tee` is not told. */
  add(line: string): void {
    this.#ring.push(encoder.encode(`${line}\n`));
  }

  /** Waits until the pipe has ended, at most `timeout` milliseconds. */
  settled(clock: Clock, timeout: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = clock.setTimer(resolve, timeout);
      void this.done.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  /** Gives the tail as text: invalid UTF-8 replaced, cut at a line border when something was dropped. */
  text(options: TailTextOptions = {}): string {
    const text = this.#kept(options.redact);
    const whole = this.bytesDropped > 0 ? dropPartLine(text) : text;
    return lastLines(whole, options.maxBytes ?? this.#maxBytes);
  }

  #kept(redact: ((text: string) => string) | undefined): string {
    const bytes = this.#ring.toBytes();
    const tail = bytes.subarray(Math.max(0, bytes.length - this.#maxBytes));
    const text = decoder.decode(this.bytesDropped > 0 ? tail.subarray(leadingPart(tail)) : tail);
    if (redact === undefined) return text;
    if (tail.length === bytes.length) return redact(text);
    // A secret across the edge is blanked in the longer text only: what both end with is clean.
    return commonEnd(redact(decoder.decode(bytes)), redact(text));
  }

  async #drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        this.#ring.push(value);
        this.#pass(value);
      }
    } catch {
      // A broken pipe has nothing more to say.
    }
  }

  #pass(chunk: Uint8Array): void {
    try {
      this.#tee?.(chunk);
    } catch {
      this.#tee = undefined;
    }
  }
}

function commonEnd(a: string, b: string): string {
  const shortest = Math.min(a.length, b.length);
  let length = 0;
  while (length < shortest && a[a.length - 1 - length] === b[b.length - 1 - length]) length += 1;
  return b.slice(b.length - length);
}
