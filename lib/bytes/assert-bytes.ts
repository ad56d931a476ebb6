/**
 * Checks that a chunk is bytes, so that a stream of text or of other views fails at the first chunk.
 *
 * @param where The function that was given the chunk, for the message.
 * @throws {TypeError} When it is not a `Uint8Array` (of any realm).
 */
export function assertBytes(chunk: unknown, where: string): asserts chunk is Uint8Array {
  if (
    chunk instanceof Uint8Array ||
    Object.prototype.toString.call(chunk) === "[object Uint8Array]"
  )
    return;
  throw new TypeError(
    `${where} takes Uint8Array chunks, got ${chunk === null ? "null" : typeof chunk}`,
  );
}
