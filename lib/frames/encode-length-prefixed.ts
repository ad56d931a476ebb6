import { assertBytes } from "../bytes/assert-bytes.ts";
import { SluiceError } from "../errors.ts";
import { MAX_BATCH, type Sink, type Stage } from "../stage/stage.ts";
import {
  type LengthPrefixOptions,
  type PrefixRules,
  prefixSize,
  resolvePrefixRules,
  writePrefix,
} from "./length-prefix.ts";

/** Frames from this size on are handed on as they are; smaller ones are copied together into chunks. */
const LARGE_BYTES = 16 * 1024;
const CHUNK_BYTES = 64 * 1024;

/**
 * Puts its length before each frame.
 *
 * Small frames of a batch share a chunk; a frame of 16 KiB or more is not copied, so it must stay as
 * it is until the chunk was written. A frame over `maxBytes` is the fault `frame_too_long`, with
 * `index` (of the frame, from 0), `length` and `maxBytes` in `data`, and nothing of it is written.
 *
 * @returns A stage that holds nothing between two pushes.
 * @throws {RangeError} When a limit is not a whole number from 1, or `maxBytes` is more than the prefix can say.
 * @throws {TypeError} When the prefix is unknown; from `push`, when a frame is not bytes.
 */
export function encodeLengthPrefixed(
  options: LengthPrefixOptions = {},
): Stage<Uint8Array, Uint8Array> {
  return new LengthPrefixEncoder(resolvePrefixRules(options));
}

class LengthPrefixEncoder implements Stage<Uint8Array, Uint8Array> {
  readonly #rules: PrefixRules;
  #sink!: Sink<Uint8Array>;
  #out: Uint8Array[] = [];
  /** Small frames not yet packed, and their bytes with prefixes. */
  #small: Uint8Array[] = [];
  #smallBytes = 0;
  #index = 0;

  constructor(rules: PrefixRules) {
    this.#rules = rules;
  }

  push(frames: readonly Uint8Array[], sink: Sink<Uint8Array>): void {
    this.#sink = sink;
    for (const frame of frames) {
      if (!sink.open) return;
      assertBytes(frame, "encodeLengthPrefixed()");
      if (frame.length > this.#rules.maxBytes) this.#refuse(frame.length);
      else if (frame.length >= LARGE_BYTES) this.#pack(frame);
      else this.#hold(frame);
      this.#index += 1;
    }
    this.#flush();
  }

  end(): void {}

  #hold(frame: Uint8Array): void {
    this.#small.push(frame);
    this.#smallBytes += prefixSize(this.#rules, frame.length) + frame.length;
    if (this.#smallBytes >= CHUNK_BYTES) this.#pack();
  }

  /** Copies the small frames into one chunk, which also takes the prefix of the large frame after them. */
  #pack(large?: Uint8Array): void {
    const extra = large === undefined ? 0 : prefixSize(this.#rules, large.length);
    const chunk = new Uint8Array(this.#smallBytes + extra);
    let at = 0;
    for (const frame of this.#small) {
      at += writePrefix(this.#rules, frame.length, chunk.subarray(at));
      chunk.set(frame, at);
      at += frame.length;
    }
    if (large !== undefined) writePrefix(this.#rules, large.length, chunk.subarray(at));
    this.#small = [];
    this.#smallBytes = 0;
    this.#out.push(chunk);
    if (large !== undefined) this.#out.push(large);
    if (this.#out.length >= MAX_BATCH - 1) this.#handOn();
  }

  #refuse(length: number): void {
    this.#flush();
    if (!this.#sink.open) return;
    const { maxBytes } = this.#rules;
    const message = `Frame ${this.#index} has ${length} bytes, allowed are ${maxBytes}`;
    this.#sink.fail(
      new SluiceError("frame_too_long", message, {
        data: { index: this.#index, length, maxBytes },
      }),
    );
  }

  #flush(): void {
    if (this.#small.length > 0) this.#pack();
    this.#handOn();
  }

  #handOn(): void {
    if (this.#out.length === 0 || !this.#sink.open) return;
    const out = this.#out;
    this.#out = [];
    this.#sink.next(out);
  }
}
