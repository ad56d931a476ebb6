import type { DataFrameHeader } from "../contract/data-frame-header.ts";

/** Digits that surely stay below 2^53. */
const MAX_DIGITS = 15;
const MAX_UINT32 = 2 ** 32 - 1;

const encoder = new TextEncoder();
const TRUE = encoder.encode("true");
const FALSE = encoder.encode("false");

/**
 * Reads headers that differ from the one before only in their numbers and `final`, as the frames of one
 * stream do, without parsing them.
 *
 * It takes canonical text alone, so what it gives is what parsing would give.
 */
export class HeaderMemo {
  #last: DataFrameHeader | undefined;
  /** The canonical text of the last header around its values: before `final`, `length`, `sequence`, and after. */
  #pieces: readonly Uint8Array[] = [];
  #bytes: Uint8Array = encoder.encode("");
  #at = 0;

  /** Remembers a header that was parsed and checked. */
  remember(header: DataFrameHeader): void {
    const { attempt_id, invocation_id, stream_id } = header;
    this.#last = header;
    this.#pieces = [
      `{"attempt_id":"${attempt_id}","final":`,
      `,"invocation_id":"${invocation_id}","length":`,
      `,"sequence":`,
      `,"stream_id":${JSON.stringify(stream_id)}}`,
    ].map((piece) => encoder.encode(piece));
  }

  /** The header that the bytes are, when it is of the stream of the last one; undefined when it has to be parsed. */
  read(bytes: Uint8Array): DataFrameHeader | undefined {
    const last = this.#last;
    if (last === undefined) return undefined;
    this.#bytes = bytes;
    this.#at = 0;
    const [beforeFinal, beforeLength, beforeSequence, rest] = this.#pieces;
    if (!this.#skip(beforeFinal!)) return undefined;
    const final = this.#skip(TRUE);
    if (!final && !this.#skip(FALSE)) return undefined;
    if (!this.#skip(beforeLength!)) return undefined;
    const length = this.#number();
    if (length === -1 || length > MAX_UINT32 || !this.#skip(beforeSequence!)) return undefined;
    const sequence = this.#number();
    if (sequence === -1 || !this.#skip(rest!) || this.#at !== bytes.length) return undefined;
    const { attempt_id, invocation_id, stream_id } = last;
    return { invocation_id, attempt_id, stream_id, sequence, length, final };
  }

  #skip(piece: Uint8Array): boolean {
    const bytes = this.#bytes;
    const from = this.#at;
    for (let k = 0; k < piece.length; k += 1) if (bytes[from + k] !== piece[k]) return false;
    this.#at = from + piece.length;
    return true;
  }

  /** A whole number in its only canonical form, or -1. */
  #number(): number {
    const from = this.#at;
    let value = 0;
    for (;;) {
      const digit = (this.#bytes[this.#at] ?? 0) - 48;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      this.#at += 1;
    }
    const digits = this.#at - from;
    if (digits === 0 || digits > MAX_DIGITS) return -1;
    return digits > 1 && this.#bytes[from] === 48 ? -1 : value;
  }
}
