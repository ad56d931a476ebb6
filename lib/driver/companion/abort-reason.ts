import { DEFAULT_LIMITS } from "../../limits.ts";

/** The text that goes on the wire for what a source failed with: 1 to 512 bytes. */
export function abortReason(thrown: unknown): string {
  const text = (thrown instanceof Error ? thrown.message : String(thrown)).toWellFormed();
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(DEFAULT_LIMITS.reasonBytes));
  return text.slice(0, read) || "The source failed";
}
