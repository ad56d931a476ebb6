import { SluiceError } from "../errors.ts";
import type { Sink, Stage } from "../stage/stage.ts";
import { EXCERPT_BYTES } from "./line-fault.ts";

/** Text collected for one chunk before it is encoded, in UTF-16 units. */
const CHUNK_UNITS = 64 * 1024;

/**
 * Writes texts as lines of UTF-8, each ended by LF; the texts of a batch share chunks.
 *
 * A text that cannot be one line is a fault and nothing of it is written: `multiline_text` when it
 * holds LF or CR, `lone_surrogate` when it has no UTF-8 form. `data` has `index` (of the text, from
 * 0) and `excerpt`.
 *
 * @returns A stage that holds nothing between two pushes.
 */
export function encodeLines(): Stage<string, Uint8Array> {
  return new LineEncoder();
}

class LineEncoder implements Stage<string, Uint8Array> {
  readonly #encoder = new TextEncoder();
  #index = 0;

  push(texts: readonly string[], sink: Sink<Uint8Array>): void {
    let chunk = "";
    for (const text of texts) {
      if (!sink.open) return;
      const fault = check(text, this.#index);
      this.#index += 1;
      if (fault === undefined) chunk += `${text}\n`;
      if (fault !== undefined || chunk.length >= CHUNK_UNITS) {
        this.#flush(chunk, sink);
        chunk = "";
      }
      if (fault !== undefined && sink.open) sink.fail(fault);
    }
    this.#flush(chunk, sink);
  }

  end(): void {}

  #flush(chunk: string, sink: Sink<Uint8Array>): void {
    if (chunk !== "" && sink.open) sink.next([this.#encoder.encode(chunk)]);
  }
}

function check(text: string, index: number): SluiceError | undefined {
  const data = (): Record<string, unknown> => ({ index, excerpt: text.slice(0, EXCERPT_BYTES) });
  if (text.includes("\n") || text.includes("\r")) {
    return new SluiceError(
      "multiline_text",
      `Text ${index} holds a line break and cannot be one line`,
      { data: data() },
    );
  }
  if (!text.isWellFormed()) {
    return new SluiceError(
      "lone_surrogate",
      `Text ${index} holds a lone surrogate and has no UTF-8 form`,
      {
        data: data(),
      },
    );
  }
  return undefined;
}
