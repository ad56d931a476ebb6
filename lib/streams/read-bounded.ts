import { assertBytes } from "../bytes/assert-bytes.ts";
import { SluiceError } from "../errors.ts";
import { checkLimit } from "../limits.ts";

/** Options of `toBytes()` and `toText()`. */
export interface ReadBounds {
  /** Most bytes the stream may have. */
  readonly maxBytes: number;
}

/**
 * Reads a stream to its end and returns its chunks as they came.
 *
 * @throws {SluiceError} `stream_too_long` when it has more than `maxBytes` bytes; it is cancelled then.
 * @throws {RangeError} When `maxBytes` is not a whole number from 1.
 * @throws {TypeError} When a chunk is not bytes; the stream is cancelled then.
 */
export async function readBounded(
  readable: ReadableStream<Uint8Array>,
  { maxBytes }: ReadBounds,
): Promise<Uint8Array[]> {
  checkLimit("maxBytes", maxBytes);
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop by a throw cancels the stream.
  for await (const chunk of readable) {
    assertBytes(chunk, "A bounded read");
    length += chunk.length;
    if (length > maxBytes) {
      throw new SluiceError("stream_too_long", `The stream has more than ${maxBytes} bytes`, {
        data: { maxBytes },
      });
    }
    chunks.push(chunk);
  }
  return chunks;
}
