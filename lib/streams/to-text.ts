import { concat } from "../bytes/concat.ts";
import { type ReadBounds, readBounded } from "./read-bounded.ts";

/**
 * Reads a stream of UTF-8 to its end as text; like Deno's `@std/streams`, it drops a byte order mark
 * and puts U+FFFD where the bytes are not UTF-8.
 *
 * @throws {SluiceError} `stream_too_long` when it has more than `maxBytes` bytes; it is cancelled then.
 * @throws {RangeError} When `maxBytes` is not a whole number from 1.
 */
export async function toText(
  readable: ReadableStream<Uint8Array>,
  bounds: ReadBounds,
): Promise<string> {
  return new TextDecoder().decode(concat(await readBounded(readable, bounds)));
}
