import { assertBytes } from "../../bytes/assert-bytes.ts";
import { isSluiceError } from "../../errors.ts";
import { resolvePrefixRules } from "../../frames/length-prefix.ts";
import { createPrefixReader } from "../../frames/prefix-reader.ts";
import { checkLimit, DEFAULT_LIMITS } from "../../limits.ts";
import { MAX_BATCH, type Sink, type Stage } from "../../stage/stage.ts";
import type { DataFrameHeader } from "../contract/data-frame-header.ts";
import { type CompanionFault, cutOff, malformed } from "./companion-fault.ts";
import type { ControlBlock } from "./contract.ts";
import { decodeHead, isControlBlock } from "./decode-head.ts";
import { HeaderMemo } from "./header-memo.ts";

/** Most bytes of a block's length on this channel. */
export const MAX_PREFIX_BYTES = 4;

/**
 * A piece of the companion channel: a control block, the header of a data frame, or a part of its
 * payload. `offset` is where the block begins, `size` how long it is with its length, both in bytes.
 */
export type BlockPart =
  | {
      readonly kind: "control";
      readonly block: ControlBlock;
      readonly offset: number;
      readonly size: number;
    }
  | {
      readonly kind: "header";
      readonly header: DataFrameHeader;
      readonly offset: number;
      readonly size: number;
    }
  | { readonly kind: "payload"; readonly bytes: Uint8Array; readonly last: boolean };

/**
 * Cuts the bytes of a companion channel into blocks.
 *
 * Payloads are handed on as they come, as views of the chunks, so nothing is put together and nothing
 * is held: a header is followed by one or more payload parts, the last of which is marked; a frame
 * without payload has one empty part. Lengths are checked before anything behind them is looked at:
 * 4096 bytes for a header or control block, and for a payload exactly `header.length`.
 *
 * @param maxFrameBytes Longest payload, 1 to 262 144.
 * @returns A stage whose `push` and `end` throw {@link CompanionFault} `malformed`, with `data.offset`
 *   of the block at fault, after the good parts before it were handed on; it is not used again then.
 * @throws {RangeError} When `maxFrameBytes` is out of its bounds.
 */
export function blockParts(maxFrameBytes: number): Stage<Uint8Array, BlockPart> {
  return new BlockDecoder(
    checkLimit("maxFrameBytes", maxFrameBytes, DEFAULT_LIMITS.dataFrameBytes),
  );
}

const RULES = resolvePrefixRules({ maxPrefixBytes: MAX_PREFIX_BYTES });
const HEAD_BYTES = DEFAULT_LIMITS.companionHeaderBytes;

class BlockDecoder implements Stage<Uint8Array, BlockPart> {
  readonly #maxFrameBytes: number;
  readonly #prefix = createPrefixReader(RULES);
  readonly #memo = new HeaderMemo();
  #sink!: Sink<BlockPart>;
  #out: BlockPart[] = [];
  /** The header whose payload comes next or is under way. */
  #header: DataFrameHeader | undefined;
  /** Bytes of the payload under way that are still to come; 0 outside of a payload. */
  #left = 0;
  /** A header or control block that does not lie in one chunk, and how much of it is there. */
  #head: Uint8Array | undefined;
  #filled = 0;
  /** Offsets in the channel, of the block under way or next, and of the chunk. */
  #blockOffset = 0;
  #chunkOffset = 0;

  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  push(chunks: readonly Uint8Array[], sink: Sink<BlockPart>): void {
    this.#sink = sink;
    for (const chunk of chunks) {
      if (!sink.open) return;
      assertBytes(chunk, "blockParts()");
      this.#chunk(chunk);
    }
    this.#flush();
  }

  end(sink: Sink<BlockPart>): void {
    this.#sink = sink;
    const inside = this.#prefix.size > 0 || this.#head !== undefined || this.#left > 0;
    if (inside) throw cutOff(this.#fault("is cut off by the end of the channel"));
    if (this.#header !== undefined)
      throw cutOff(this.#fault("is missing: the channel ends between a header and its payload"));
  }

  #chunk(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length && this.#sink.open) {
      if (this.#left > 0) at = this.#payload(chunk, at);
      else if (this.#head !== undefined) at = this.#fill(chunk, at);
      else at = this.#start(chunk, at);
    }
    this.#chunkOffset += chunk.length;
  }

  /** Reads on in a block's length, and begins the block; returns where it got to. */
  #start(chunk: Uint8Array, from: number): number {
    let at = from;
    let state: "more" | "done" | "bad" = "more";
    while (state === "more" && at < chunk.length) {
      state = this.#prefix.read(chunk[at]!);
      at += 1;
    }
    if (state === "more") return at;
    if (state === "bad") throw this.#fault("has a length that is over-long or not minimal");
    const length = this.#prefix.value;
    if (this.#header !== undefined) return this.#startPayload(length, at);
    if (length > HEAD_BYTES)
      throw this.#fault(`announces ${length} bytes where at most ${HEAD_BYTES} are allowed`);
    if (length > chunk.length - at) {
      this.#head = new Uint8Array(length);
      this.#filled = 0;
      return at;
    }
    this.#decode(chunk.subarray(at, at + length), at + length);
    return at + length;
  }

  #startPayload(length: number, at: number): number {
    const announced = this.#header!.length;
    if (length !== announced)
      throw this.#fault(`has ${length} bytes of payload where its header says ${announced}`);
    this.#left = length;
    if (length === 0) this.#endPayload(EMPTY, at);
    return at;
  }

  #payload(chunk: Uint8Array, at: number): number {
    const end = Math.min(chunk.length, at + this.#left);
    // A plain view, also of a subclass of Uint8Array.
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset + at, end - at);
    this.#left -= bytes.length;
    if (this.#left === 0) this.#endPayload(bytes, end);
    else this.#emit({ kind: "payload", bytes, last: false });
    return end;
  }

  #endPayload(bytes: Uint8Array, end: number): void {
    this.#header = undefined;
    this.#blockOffset = this.#chunkOffset + end;
    this.#emit({ kind: "payload", bytes, last: true });
  }

  #fill(chunk: Uint8Array, at: number): number {
    const head = this.#head!;
    const end = Math.min(chunk.length, at + head.length - this.#filled);
    head.set(chunk.subarray(at, end), this.#filled);
    this.#filled += end - at;
    if (this.#filled === head.length) {
      this.#head = undefined;
      this.#decode(head, end);
    }
    return end;
  }

  /** Takes a whole header or control block, which ends at `end` of the chunk. */
  #decode(bytes: Uint8Array, end: number): void {
    const offset = this.#blockOffset;
    const head = this.#attempt(bytes);
    const size = this.#chunkOffset + end - offset;
    if (!isControlBlock(head) && head.length > this.#maxFrameBytes)
      throw this.#fault(
        `announces a payload of ${head.length} bytes where at most ${this.#maxFrameBytes} are allowed`,
      );
    this.#blockOffset = offset + size;
    if (isControlBlock(head)) return this.#emit({ kind: "control", block: head, offset, size });
    this.#header = head;
    this.#emit({ kind: "header", header: head, offset, size });
  }

  #attempt(bytes: Uint8Array): ControlBlock | DataFrameHeader {
    try {
      const known = this.#memo.read(bytes);
      if (known !== undefined) return known;
      const head = decodeHead(bytes);
      if (!isControlBlock(head)) this.#memo.remember(head);
      return head;
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      throw this.#fault(`does not decode: ${error.message}`, error);
    }
  }

  #emit(part: BlockPart): void {
    this.#out.push(part);
    if (this.#out.length === MAX_BATCH) this.#flush();
  }

  #flush(): void {
    if (this.#out.length === 0 || !this.#sink.open) return;
    const out = this.#out;
    this.#out = [];
    this.#sink.next(out);
  }

  /** Makes the fault of the block under way, once the good parts before it are handed on. */
  #fault(problem: string, cause?: unknown): CompanionFault {
    this.#flush();
    return malformed(this.#blockOffset, problem, { cause });
  }
}

const EMPTY = new Uint8Array(0);
