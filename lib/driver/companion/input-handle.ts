import type { ExactInputHandle } from "../contract/invoke.ts";

/** What stands for a stream's id in the handle of an invocation without input. */
export const NO_INPUT = "none";

const PREFIX = "companion:";

/**
 * The handle that names an input on the companion channel.
 *
 * @param streamId Absent for no input.
 */
export function companionHandle(streamId: string = NO_INPUT): ExactInputHandle {
  return { kind: "pipe", value: `${PREFIX}${streamId}` };
}

/**
 * Reads a {@link companionHandle}.
 *
 * @returns The stream's id, null for no input, undefined when the handle is of another kind.
 */
export function streamOfHandle({ kind, value }: ExactInputHandle): string | null | undefined {
  if (kind !== "pipe" || !value.startsWith(PREFIX)) return undefined;
  const streamId = value.slice(PREFIX.length);
  return streamId === NO_INPUT ? null : streamId;
}
