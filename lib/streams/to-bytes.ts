import { concat } from "../bytes/concat.ts";
import { type ReadBounds, readBounded } from "./read-bounded.ts";

/**
 * Reads a stream to its end as one byte array.
 *
 * @throws {SluiceError} `stream_too_long` when it has more than `maxBytes` bytes; it is cancelled then.
 * @throws {RangeError} When `maxBytes` is not a whole number from 1.
 */
export async function toBytes(
  readable: ReadableStream<Uint8Array>,
  bounds: ReadBounds,
): Promise<Uint8Array<ArrayBuffer>> {
  return concat(await readBounded(readable, bounds));
}
