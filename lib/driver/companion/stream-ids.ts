import { DEFAULT_LIMITS } from "../../limits.ts";

const MAX_BYTES = DEFAULT_LIMITS.streamIdBytes;

/** The invocation that a stream belongs to. */
export interface InvocationIds {
  readonly invocation_id: string;
  readonly attempt_id: string;
}

/** What names a stream, within one direction of one channel. */
export interface StreamIds extends InvocationIds {
  readonly stream_id: string;
}

/** The ids alone, without what else a block or record carries. */
export function streamIds({ invocation_id, attempt_id, stream_id }: StreamIds): StreamIds {
  return { invocation_id, attempt_id, stream_id };
}

/** One text for the three ids; the first two have a fixed length on the wire. */
export function streamKey({ invocation_id, attempt_id, stream_id }: StreamIds): string {
  return `${invocation_id}/${attempt_id}/${stream_id}`;
}

/** Tells whether two sets of ids name the same stream. */
export function sameStream(one: StreamIds, other: StreamIds): boolean {
  return (
    one.stream_id === other.stream_id &&
    one.invocation_id === other.invocation_id &&
    one.attempt_id === other.attempt_id
  );
}

/** Tells whether a stream's id has 1 to 256 bytes of well-formed text. */
export function isStreamId(id: string): boolean {
  if (id === "" || !id.isWellFormed()) return false;
  // A UTF-16 unit has at most three bytes.
  return id.length * 3 <= MAX_BYTES || utf8Length(id) <= MAX_BYTES;
}

/**
 * Checks the id under which a stream is to be sent.
 *
 * @throws {RangeError} When it is empty, has over 256 bytes, or holds an unpaired surrogate.
 */
export function checkStreamId(id: string): void {
  if (isStreamId(id)) return;
  throw new RangeError(
    `stream_id must be well-formed text of 1 to ${MAX_BYTES} bytes, got ${id.length} characters`,
  );
}

/** Bytes of a text as UTF-8. */
export function utf8Length(text: string): number {
  return encoder.encode(text).length;
}

const encoder = new TextEncoder();
