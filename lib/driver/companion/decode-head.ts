import { parseJson } from "../../json/parse-json.ts";
import { DEFAULT_LIMITS } from "../../limits.ts";
import { checkRecord } from "../../schema/check-record.ts";
import { decodeRecord } from "../../schema/decode-record.ts";
import { recordFault } from "../../schema/record-fault.ts";
import type { Schema } from "../../schema/schema.ts";
import { DataFrameHeader } from "../contract/data-frame-header.ts";
import { CONTROL_BLOCKS, type ControlBlock } from "./contract.ts";
import { isStreamId, utf8Length } from "./stream-ids.ts";

/**
 * Decodes a header block or a control block: strict JSON, exact members, values within their bounds.
 * An object with a member `type` is a control block.
 *
 * @param bytes The block without its length.
 * @throws {SluiceError} A code of the JSON parser, or `invalid_record`.
 */
export function decodeHead(bytes: Uint8Array): ControlBlock | DataFrameHeader {
  const value = parseJson(bytes);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject || !Object.hasOwn(value, "type"))
    return checkStream(read<DataFrameHeader>(DataFrameHeader, value));
  const { type } = value as { readonly type: unknown };
  if (typeof type !== "string" || !Object.hasOwn(CONTROL_BLOCKS, type))
    throw recordFault("/type", `must be one of ${Object.keys(CONTROL_BLOCKS).join(", ")}`);
  const schema: Schema<ControlBlock> = CONTROL_BLOCKS[type as keyof typeof CONTROL_BLOCKS];
  return checkBounds(read<ControlBlock>(schema, value));
}

/** Tells a control block from a header. */
export function isControlBlock(head: ControlBlock | DataFrameHeader): head is ControlBlock {
  return "type" in head;
}

function read<T>(schema: Schema<T>, value: unknown): T {
  const decoded = decodeRecord(schema, value);
  checkRecord(schema, decoded);
  return decoded;
}

function checkBounds(block: ControlBlock): ControlBlock {
  if (block.type === "hello") return block;
  if (block.type === "abort" && utf8Length(block.reason) > DEFAULT_LIMITS.reasonBytes)
    throw recordFault("/reason", `has more than ${DEFAULT_LIMITS.reasonBytes} bytes`);
  return checkStream(block);
}

function checkStream<T extends { readonly stream_id: string }>(head: T): T {
  if (isStreamId(head.stream_id)) return head;
  throw recordFault("/stream_id", `has more than ${DEFAULT_LIMITS.streamIdBytes} bytes`);
}
