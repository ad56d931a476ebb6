import { prefixSize, resolvePrefixRules, writePrefix } from "../../frames/length-prefix.ts";
import { canonicalBytes } from "../../json/canonical-json.ts";
import type { DataFrameHeader } from "../contract/data-frame-header.ts";
import { MAX_PREFIX_BYTES } from "./block-parts.ts";
import type { ControlBlock } from "./contract.ts";

const RULES = resolvePrefixRules({ maxPrefixBytes: MAX_PREFIX_BYTES });

/** Encodes a control block, with its length before it. */
export function encodeControlBlock(block: ControlBlock): Uint8Array {
  return joinBlocks([canonicalBytes(block)]);
}

/**
 * Encodes a data frame: two blocks in one piece, which holds a copy of the payload.
 *
 * @param header Its `length` is that of the payload.
 */
export function encodeDataFrame(header: DataFrameHeader, payload: Uint8Array): Uint8Array {
  return joinBlocks([encoder.encode(headerText(header)), payload]);
}

/** The canonical text of a header: its names in order, and values that have one spelling in JSON. */
function headerText({ final, length, sequence, ...ids }: DataFrameHeader): string {
  const { attempt_id, invocation_id, stream_id } = ids;
  const run = `{"attempt_id":"${attempt_id}","final":${final},"invocation_id":"${invocation_id}"`;
  return `${run},"length":${length},"sequence":${sequence},"stream_id":${JSON.stringify(stream_id)}}`;
}

const encoder = new TextEncoder();

function joinBlocks(blocks: readonly Uint8Array[]): Uint8Array {
  let size = 0;
  for (const { length } of blocks) size += prefixSize(RULES, length) + length;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const block of blocks) {
    at += writePrefix(RULES, block.length, bytes.subarray(at));
    bytes.set(block, at);
    at += block.length;
  }
  return bytes;
}
