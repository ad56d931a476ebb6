import { SluiceError } from "../../errors.ts";
import type { ExactInputHandle } from "../contract/invoke.ts";

/** Opens an input handle; that it cannot be opened errors the stream instead of the caller. */
export function inputOf(
  handle: ExactInputHandle,
  open: ((handle: ExactInputHandle) => ReadableStream<Uint8Array>) | undefined,
): ReadableStream<Uint8Array> {
  try {
    if (open !== undefined) return open(handle);
    throw new SluiceError(
      "input_unsupported",
      `Input of kind ${handle.kind} cannot be opened here: give the driver an openInput`,
    );
  } catch (error) {
    return new ReadableStream({ start: (controller) => controller.error(error) });
  }
}
