import { assertBytes } from "../bytes/assert-bytes.ts";
import { SluiceError } from "../errors.ts";
import { MAX_BATCH, type Sink, type Stage } from "../stage/stage.ts";
import { type LengthPrefixOptions, type PrefixRules, resolvePrefixRules } from "./length-prefix.ts";
import { createPrefixReader, type PrefixReader } from "./prefix-reader.ts";

/**
 * Cuts bytes into frames that each follow their length.
 *
 * A frame that lies in one chunk is a view of that chunk, so the chunk must stay as it is while the
 * frame is in use; other frames are copied once into an allocation of their exact size, made after
 * the length was checked. A frame of length 0 is a frame.
 *
 * There is no way back into step after a bad length, so these errors are fatal and thrown by `push`
 * or `end`, after the good frames before them were handed on. Their `data` has `frame` (index from
 * 0) and `offset` (of the frame's prefix in the stream, in bytes).
 *
 * @returns A stage that throws SluiceError: from `push` `frame_too_long` (with `length` and
 * `maxBytes`) and `bad_prefix` (a uvarint that is over-long or not in its shortest form); from
 * `end` `truncated_frame`, at any byte inside a frame or its prefix.
 * @throws {RangeError} When a limit is not a whole number from 1, or `maxBytes` is more than the prefix can say.
 * @throws {TypeError} When the prefix is unknown; from `push`, when a chunk is not bytes.
 */
export function lengthPrefixed(options: LengthPrefixOptions = {}): Stage<Uint8Array, Uint8Array> {
  return new LengthPrefixDecoder(resolvePrefixRules(options));
}

class LengthPrefixDecoder implements Stage<Uint8Array, Uint8Array> {
  readonly #rules: PrefixRules;
  readonly #prefix: PrefixReader;
  #sink!: Sink<Uint8Array>;
  #out: Uint8Array[] = [];
  /** The frame under way when it does not lie in one chunk, and how much of it is there. */
  #body: Uint8Array | undefined;
  #filled = 0;
  /** Index of the frame that comes next or is under way; stream offsets of its prefix and of the chunk. */
  #frame = 0;
  #frameOffset = 0;
  #chunkOffset = 0;

  constructor(rules: PrefixRules) {
    this.#rules = rules;
    this.#prefix = createPrefixReader(rules);
  }

  push(chunks: readonly Uint8Array[], sink: Sink<Uint8Array>): void {
    this.#sink = sink;
    for (const chunk of chunks) {
      if (!sink.open) return;
      this.#chunk(chunk);
    }
    this.#flush();
  }

  end(sink: Sink<Uint8Array>): void {
    this.#sink = sink;
    if (this.#prefix.size === 0 && this.#body === undefined) return;
    const received = this.#chunkOffset - this.#frameOffset;
    throw this.#error("truncated_frame", `ends after ${received} bytes with the input`, {
      received,
    });
  }

  #chunk(chunk: Uint8Array): void {
    assertBytes(chunk, "lengthPrefixed()");
    let at = 0;
    while (at < chunk.length && this.#sink.open) {
      at = this.#body === undefined ? this.#start(chunk, at) : this.#fill(chunk, at);
    }
    this.#chunkOffset += chunk.length;
  }

  /** Reads on in the prefix, and starts or finishes the frame behind it; returns where it got to. */
  #start(chunk: Uint8Array, from: number): number {
    let at = from;
    let state: "more" | "done" | "bad" = "more";
    while (state === "more" && at < chunk.length) {
      state = this.#prefix.read(chunk[at]!);
      at += 1;
    }
    if (state === "more") return at;
    if (state === "bad")
      throw this.#error("bad_prefix", "has a length that is over-long or not in its shortest form");
    const length = this.#prefix.value;
    if (length > this.#rules.maxBytes) throw this.#tooLong(length);
    if (length > chunk.length - at) {
      this.#body = new Uint8Array(length);
      this.#filled = 0;
      return at;
    }
    // A plain view, also of a subclass of Uint8Array.
    this.#emit(new Uint8Array(chunk.buffer, chunk.byteOffset + at, length), at + length);
    return at + length;
  }

  #fill(chunk: Uint8Array, at: number): number {
    const body = this.#body!;
    const end = Math.min(chunk.length, at + body.length - this.#filled);
    body.set(chunk.subarray(at, end), this.#filled);
    this.#filled += end - at;
    if (this.#filled === body.length) {
      this.#body = undefined;
      this.#emit(body, end);
    }
    return end;
  }

  #emit(frame: Uint8Array, end: number): void {
    this.#frame += 1;
    this.#frameOffset = this.#chunkOffset + end;
    this.#out.push(frame);
    if (this.#out.length === MAX_BATCH) this.#flush();
  }

  #flush(): void {
    if (this.#out.length === 0 || !this.#sink.open) return;
    const out = this.#out;
    this.#out = [];
    this.#sink.next(out);
  }

  #tooLong(length: number): SluiceError {
    const { maxBytes } = this.#rules;
    return this.#error("frame_too_long", `announces ${length} bytes, allowed are ${maxBytes}`, {
      length,
      maxBytes,
    });
  }

  /** Makes a fatal error, once the good frames before it are handed on. */
  #error(code: string, what: string, more?: Readonly<Record<string, number>>): SluiceError {
    this.#flush();
    const [frame, offset] = [this.#frame, this.#frameOffset];
    return new SluiceError(code, `Frame ${frame} at byte ${offset} ${what}`, {
      data: { frame, offset, ...more },
    });
  }
}
