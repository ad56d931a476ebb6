import { assertBytes } from "../bytes/assert-bytes.ts";
import type { ByteSource } from "./companion/mod.ts";

/**
 * Checks a source of bytes before anything is sent that names it; nothing is read.
 *
 * @param what Begins the message, as "The input".
 * @throws {TypeError} When it is neither bytes nor a source of chunks, or is a stream that is locked.
 */
export function checkSource(source: ByteSource, what: string): void {
  const isObject = typeof source === "object" && source !== null;
  if (isObject && "getReader" in source) {
    if (source.locked) throw new TypeError(`${what} is a stream that is locked already`);
    return;
  }
  if (isObject && Symbol.asyncIterator in source) return;
  assertBytes(source, what);
}
