import { isSluiceError } from "../errors.ts";
import { MAX_BATCH, type Sink, type Stage } from "../stage/stage.ts";
import { checkDepth, parseText, parseWellFormed, type ParseJsonOptions } from "./parse-json.ts";
import type { JsonValue } from "./value.ts";

/** Options of {@link strictJson}. */
export interface StrictJsonOptions extends ParseJsonOptions {
  /**
   * Says that no text has an unpaired surrogate, as is so for text decoded from UTF-8, and spares the
   * search for them; false when left out.
   */
  readonly wellFormed?: boolean | undefined;
}

/**
 * A stage that parses each text by the rules of {@link parseJson}.
 *
 * A refused text is a fault in its place, with the code and data of the parse error, and the texts
 * after it are parsed as usual. Nothing is held between two pushes.
 *
 * @param options The depth limit, and what is known of the texts.
 * @throws {RangeError} When `maxDepth` is out of its bounds.
 */
export function strictJson(options?: StrictJsonOptions): Stage<string, JsonValue> {
  return new StrictJson(checkDepth(options?.maxDepth), options?.wellFormed === true);
}

class StrictJson implements Stage<string, JsonValue> {
  readonly #maxDepth: number;
  readonly #parse: (text: string, maxDepth: number) => JsonValue;

  constructor(maxDepth: number, wellFormed: boolean) {
    this.#maxDepth = maxDepth;
    this.#parse = wellFormed ? parseWellFormed : parseText;
  }

  push(inputs: readonly string[], sink: Sink<JsonValue>): void {
    let values: JsonValue[] = [];
    for (const text of inputs) {
      if (!sink.open) return;
      try {
        values.push(this.#parse(text, this.#maxDepth));
      } catch (thrown) {
        if (!isSluiceError(thrown)) throw thrown;
        if (values.length > 0) sink.next(values);
        values = [];
        if (sink.open) sink.fail(thrown);
      }
      if (values.length === MAX_BATCH) {
        sink.next(values);
        values = [];
      }
    }
    if (values.length > 0) sink.next(values);
  }

  end(): void {}
}
